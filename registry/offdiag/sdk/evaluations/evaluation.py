"""The evaluation of a run or of labels in memory: values, frames, and the same for label sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.hierarchy import Collapse
from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.errors import Conflict
from offdiag.extras import optional
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.warning import MinorityWarning, minority_warning
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets, matrix_of, sets_of
from offdiag.metrics.multilabel.matrix import MultilabelMatrix
from offdiag.metrics.multilabel.tally import LabelCounts, SetTally
from offdiag.metrics.slices.finder import SliceFindings
from offdiag.metrics.suite import labelled_suite
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.sdk.display.displayed import Origin
from offdiag.sdk.evaluations.flag import FlagList, Judgement
from offdiag.sdk.evaluations.slices import frame_of_slices
from offdiag.sdk.evaluations.tables import ClassValues, MetricTable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class EmptySetCounts:
    """Samples whose true or predicted set is empty; the multi-label matrix leaves them out.

    * `both_empty`: samples with both sets empty.
    * `n_true_empty`, `n_pred_empty`: samples with an empty true or predicted set, `both_empty`
      included.
    * `missed_when_pred_empty`: by label, how often it was true while nothing was predicted.
    * `spurious_when_true_empty`: by label, how often it was predicted while nothing was true.
    """

    both_empty: int
    n_true_empty: int
    n_pred_empty: int
    missed_when_pred_empty: Mapping[str, int]
    spurious_when_true_empty: Mapping[str, int]

    @classmethod
    def of_tally(cls, tally: SetTally, labels: LabelSet) -> EmptySetCounts:
        """The counts of a tally, with the names of their labels."""
        empty = tally.empty_sets
        missed, spurious = empty.missed_when_pred_empty, empty.spurious_when_true_empty
        return cls(
            both_empty=empty.both_empty,
            n_true_empty=empty.n_true_empty,
            n_pred_empty=empty.n_pred_empty,
            missed_when_pred_empty=dict(zip(labels.names, missed.tolist(), strict=True)),
            spurious_when_true_empty=dict(zip(labels.names, spurious.tolist(), strict=True)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; counts by label are lists in label order."""
        return {
            "both_empty": self.both_empty,
            "n_true_empty": self.n_true_empty,
            "n_pred_empty": self.n_pred_empty,
            "missed_when_pred_empty": list(self.missed_when_pred_empty.values()),
            "spurious_when_true_empty": list(self.spurious_when_true_empty.values()),
        }


def label_frame(values: NDArray[Any], labels: LabelSet) -> pd.DataFrame:
    """Values of shape (q, q) with both axes named."""
    with optional:
        import pandas as pd

    return pd.DataFrame(
        values.copy(),
        index=pd.Index(labels.names, name="actual"),
        columns=pd.Index(labels.names, name="predicted"),
    )


def counts_frame(counts: LabelCounts, labels: LabelSet) -> pd.DataFrame:
    """The two-by-two table of each label, one row per label."""
    with optional:
        import pandas as pd

    cells = counts.one_vs_rest()
    return pd.DataFrame(
        {name: getattr(cells, name).astype(np.int64) for name in ("tp", "fn", "fp", "tn")},
        index=pd.Index(labels.names, name="label"),
    )


def sets_dict(counted: CountedSets) -> dict[str, Any]:
    """The multi-label matrix with its shares, and the samples it leaves out."""
    return {
        **matrix_dict(counted.matrix),
        "empty_sets": EmptySetCounts.of_tally(counted.tally, counted.labels).to_dict(),
    }


def matrix_dict(matrix: MultilabelMatrix) -> dict[str, Any]:
    """The matrix and both of its shares as nested lists, None where a share is undefined."""
    return {
        "multilabel_matrix": matrix.cells.tolist(),
        "row_share": _nested(matrix.row_share.value),
        "column_share": _nested(matrix.column_share.value),
    }


def _nested(values: NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if np.isnan(cell) else cell for cell in row] for row in values.tolist()]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Every metric of a confusion matrix or of multi-label sets, with the flags that rules raise.

    `print(evaluation)` shows `summary()`, a page of text; `repr` is one line.

    * `aggregate[key]`: one `MetricValue`.
    * `per_class[key][label]`: one `MetricValue` for each class; for each label of a multi-label
      run.
    * `counted`: the confusion matrix, sums of weights or sets of labels that metrics come from.
    * `judgement`: the stored flags of a run; None if the rules are to be evaluated when needed.
    * `collapse`: which classes are groups of classes; None if there are none.
    * `origin`: the run of the evaluation; None if it was made in memory.
    * `slice_findings`: the slices of an evaluation made in memory with slices.
    * `confidence`: the level of the intervals.
    """

    counted: Counted
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    judgement: Judgement | None = None
    collapse: Collapse | None = None
    origin: Origin | None = None
    slice_findings: SliceFindings | None = field(default=None, compare=False)
    confidence: float = 0.95

    @classmethod
    def of_matrix(cls, matrix: ConfusionMatrix) -> Evaluation:
        """Compute all metrics of a confusion matrix."""
        suite = labelled_suite(matrix.counts, matrix.labels)
        return cls.of_values(
            matrix,
            aggregate={key: quantity.at() for key, quantity in suite.aggregate.items()},
            per_class={
                key: [quantity.at(code) for code in range(matrix.n_classes)]
                for key, quantity in suite.per_class.items()
            },
        )

    @classmethod
    def of_values(
        cls,
        counted: Counted,
        *,
        aggregate: Mapping[str, MetricValue],
        per_class: Mapping[str, Sequence[MetricValue]],
        judgement: Judgement | None = None,
        collapse: Collapse | None = None,
    ) -> Evaluation:
        """An evaluation of known values, with or without intervals; classes in label order."""
        positive = counted.labels.conventional_positive
        code = None if positive is None else counted.labels.index[positive]
        return cls(
            counted,
            MetricTable(
                aggregate,
                n_classes=len(counted.labels),
                of_positive={}
                if code is None or isinstance(counted, CountedSets)
                else {key: values[code] for key, values in per_class.items()},
            ),
            MetricTable(
                {key: ClassValues(counted.labels, values) for key, values in per_class.items()}
            ),
            judgement,
            collapse,
        )

    @property
    def flags(self) -> FlagList:
        """Flags that rules raised; for a stored run only those that are not closed.

        An evaluation that is not stored is checked here, with default thresholds, by the rules
        that need only what was counted.
        """
        return FlagList(self._judged.flags)

    @property
    def badge(self) -> bool:
        """Whether accuracy hides a minority class; False if that cannot be determined."""
        return self._judged.badge

    @property
    def may_hide(self) -> bool:
        """Whether accuracy may hide a minority class: a gap is visible, but not proved."""
        return self._judged.may_hide

    @cached_property
    def _judged(self) -> Judgement:
        return self.judgement or Judgement.of_counted(self.counted)

    @cached_property
    def warning(self) -> MinorityWarning | None:
        """The hidden-minority warning, with the class that accuracy hides or may hide, or None."""
        flags = [flag for flag in self._judged.flags if flag.state != FlagState.DISMISSED]
        return minority_warning(self.counted, [flag.raised for flag in flags if flag.in_warning])

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names in the order of both axes of the matrix."""
        return self.counted.labels.names

    def __repr__(self) -> str:
        from offdiag.sdk.display.evaluation_text import evaluation_line

        return evaluation_line(self)

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """The evaluation as a page of text, at most 79 columns wide.

        It has the hidden-minority warning, primary metrics, the number of examples, recall,
        precision and F1 by class with their intervals, and flags by severity. With more than
        20 classes, it shows the 12 with the lowest recall.
        """
        from offdiag.sdk.display.evaluation_text import evaluation_text

        return evaluation_text(self)

    def to_frame(self) -> pd.DataFrame:
        """Every metric by class, one row for each of the K classes in label order.

        Columns are pairs of a metric and "value", "ci_low" or "ci_high", so `frame["recall"]` has
        these three. Undefined values and missing intervals are NaN.
        """
        return self.per_class.to_frame()

    def slices(self, metric: str | None = None, *, limit: int = 100) -> pd.DataFrame:
        """The slices that are worse than the rest, as a frame like that of `Run.slices`.

        Raises `Conflict` unless the evaluation comes from `evaluate_labels` with `slices`.
        """
        return frame_of_slices(self.slice_findings, self.labels, metric, limit)

    @property
    def matrix(self) -> ConfusionMatrix:
        """The confusion matrix of counts.

        Raises `Conflict` for a multi-label run, which has none, and for weighted samples;
        `weights` has those.
        """
        return matrix_of(self.counted)

    @property
    def is_weighted(self) -> bool:
        """Whether samples have weights; all metrics and intervals are then weighted."""
        return isinstance(self.counted, WeightedCounts)

    @property
    def weights(self) -> WeightedCounts:
        """Weights of the samples by pair of classes: `sums`, `squares` and `samples`, (K, K).

        `n_effective` is Kish's effective sample size, and `class_effective` (K,) that of each
        actual class. Raises `Conflict` if samples have no weights.
        """
        if not isinstance(self.counted, WeightedCounts):
            raise Conflict(
                "the samples of this run have no weights.",
                field="run",
                hint="Log them with sample_weight=; `matrix` has the counts.",
            )
        return self.counted

    @property
    def n_effective(self) -> float:
        """Kish's effective sample size; without weights, the number of samples."""
        found = self.counted
        return found.n_effective if isinstance(found, WeightedCounts) else float(found.total)

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Counts as a DataFrame with the axes named "actual" (index) and "predicted".

        For weighted samples it has sums of weights. Raises `Conflict` for a multi-label run.
        """
        if isinstance(self.counted, WeightedCounts):
            return label_frame(self.counted.sums, self.counted.labels)
        return label_frame(self.matrix.counts, self.counted.labels)

    @property
    def multilabel_matrix(self) -> pd.DataFrame:
        """The fractional confusion matrix of labels, after Krstinic et al. (2020).

        It shows how much of each true label (axis "actual") was predicted as which label. Raises
        `Conflict`, as the other views of label sets do, if samples have one class each.
        """
        return label_frame(self._sets.matrix.cells, self._sets.labels)

    @property
    def row_share(self) -> pd.DataFrame:
        """Rows of the multi-label matrix as shares, NaN if empty: not the recall of a label."""
        return label_frame(self._sets.matrix.row_share.value, self._sets.labels)

    @property
    def column_share(self) -> pd.DataFrame:
        """Columns of the multi-label matrix as shares: not the precision of a label."""
        return label_frame(self._sets.matrix.column_share.value, self._sets.labels)

    @property
    def label_counts(self) -> pd.DataFrame:
        """The two-by-two table of each label: columns tp, fn, fp and tn."""
        return counts_frame(self._sets.tally.labels, self._sets.labels)

    @property
    def empty_sets(self) -> EmptySetCounts:
        """Samples whose true or predicted set is empty; the multi-label matrix leaves them out."""
        return EmptySetCounts.of_tally(self._sets.tally, self._sets.labels)

    @property
    def _sets(self) -> CountedSets:
        return sets_of(self.counted)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`.

        Keys of a multi-label run are those that `evaluate_multilabel` uses.
        """
        if isinstance(self.counted, CountedSets):
            return self._dict_of_sets(self.counted)
        groups = {} if self.collapse is None else {"groups": self.collapse.to_dict()}
        return {
            "labels": list(self.labels),
            **groups,
            "orientation": "actual_rows",
            **self._cells(),
            "aggregate": self.aggregate.plain(),
            "per_class": self.per_class.plain(),
        }

    def _cells(self) -> dict[str, Any]:
        found = self.counted
        if not isinstance(found, WeightedCounts):
            return {"matrix": self.matrix.counts.tolist()}
        return {
            "weighted": True,
            "n_cases": found.total,
            "n_effective": found.n_effective,
            "matrix": found.sums.tolist(),
            "counts": found.samples.tolist(),
        }

    def _dict_of_sets(self, counted: CountedSets) -> dict[str, Any]:
        return {
            "labels": list(self.labels),
            "orientation": "actual_rows",
            "n_cases": counted.total,
            "aggregate": self.aggregate.plain(),
            "per_label": self.per_class.plain(),
            **sets_dict(counted),
        }

    def _repr_html_(self) -> str:
        from offdiag.sdk.display.evaluation_card import evaluation_card

        return evaluation_card(self)
