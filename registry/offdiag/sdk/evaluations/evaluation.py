"""What an evaluation looks like to its reader: values, frames, also of sets of labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.hierarchy import Collapse
from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.values import MetricValue
from offdiag.errors import UnknownKey
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets, matrix_of, sets_of
from offdiag.metrics.multilabel.matrix import MultilabelMatrix
from offdiag.metrics.multilabel.tally import LabelCounts, SetTally
from offdiag.metrics.suite import evaluate_stack
from offdiag.sdk.evaluations.flag import Flag, Judgement

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class EmptySetCounts:
    """Cases whose true or predicted set is empty, which the matrix leaves out.

    `n_true_empty` and `n_pred_empty` include the `both_empty` cases. By label:
    `missed_when_pred_empty`, how often it was true while nothing was predicted, and
    `spurious_when_true_empty`, how often it was predicted while nothing was true.
    """

    both_empty: int
    n_true_empty: int
    n_pred_empty: int
    missed_when_pred_empty: Mapping[str, int]
    spurious_when_true_empty: Mapping[str, int]

    @classmethod
    def of_tally(cls, tally: SetTally, labels: LabelSet) -> EmptySetCounts:
        """Those that were counted, with the names of their labels."""
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
        """Plain numbers; those by label as lists in label order."""
        return {
            "both_empty": self.both_empty,
            "n_true_empty": self.n_true_empty,
            "n_pred_empty": self.n_pred_empty,
            "missed_when_pred_empty": list(self.missed_when_pred_empty.values()),
            "spurious_when_true_empty": list(self.spurious_when_true_empty.values()),
        }


def label_frame(values: NDArray[np.float64], labels: LabelSet) -> pd.DataFrame:
    """Values of shape (q, q) with both axes named."""
    import pandas as pd

    return pd.DataFrame(
        values.copy(),
        index=pd.Index(labels.names, name="actual"),
        columns=pd.Index(labels.names, name="predicted"),
    )


def counts_frame(counts: LabelCounts, labels: LabelSet) -> pd.DataFrame:
    """The two-by-two table of each label, a row each."""
    import pandas as pd

    cells = counts.one_vs_rest()
    return pd.DataFrame(
        {name: getattr(cells, name).astype(np.int64) for name in ("tp", "fn", "fp", "tn")},
        index=pd.Index(labels.names, name="label"),
    )


def sets_dict(counted: CountedSets) -> dict[str, Any]:
    """The matrix with its shares, and the cases it leaves out."""
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


Value = TypeVar("Value")


class MetricTable(Mapping[str, Value]):
    """Results by metric key. A wrong key raises `UnknownKey`, a `KeyError` with similar keys.

    Names of scikit-learn's scorers are accepted: `["f1_macro"]` is `["macro_f1"]`, and
    `["neg_log_loss"]` is minus the log loss. `n_classes` tells the two Brier scores apart;
    `of_positive` has the values of the positive class, for scorers of two classes such as `f1`.
    """

    def __init__(
        self,
        values: Mapping[str, Value],
        *,
        n_classes: int | None = None,
        of_positive: Mapping[str, Value] | None = None,
    ) -> None:
        self._values = dict(values)
        self._n_classes = n_classes
        self._of_positive = of_positive or {}

    def __getitem__(self, key: str) -> Value:
        if key in self._values:
            return self._values[key]
        from offdiag.metrics.names import find_metric

        for values in (self._values, self._of_positive):
            found = find_metric(key, values, n_classes=self._n_classes)
            if found is not None:
                value: Value = values[found.key]
                return cast("Value", _negated(value)) if found.is_negated else value
        raise UnknownKey(f"there is no metric {key!r}.", field="key", hint=self._similar(key))

    def _similar(self, key: str) -> str:
        from offdiag.metrics.names import averages_of, nearest_names

        averages = averages_of(key, self._values)
        if averages:
            return f"It is a metric of one class. Use an average: {', '.join(averages)}."
        return nearest_names(key, self._values) or _similar(key, self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"


class ClassValues(Mapping[str, MetricValue]):
    """Values of one metric by class, in label order.

    A class may be asked for as text or as the int or bool the data holds: `[1]` is `["1"]`.
    """

    def __init__(self, labels: LabelSet, values: Sequence[MetricValue]) -> None:
        self._labels = labels
        self._values = tuple(values)

    def __getitem__(self, label: object) -> MetricValue:
        text = label_text(label, field_name="label")
        try:
            return self._values[self._labels.index[text]]
        except KeyError:
            raise UnknownKey(
                f"there is no class {text!r}.",
                field="label",
                hint=_similar(text, self._labels.names),
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels.names)

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"

    def negated(self) -> ClassValues:
        """Minus each value."""
        from offdiag.metrics.names import negated

        return ClassValues(self._labels, tuple(map(negated, self._values)))


def _negated(value: Any) -> Any:
    from offdiag.metrics.names import negated

    return value.negated() if isinstance(value, ClassValues) else negated(value)


@dataclass(frozen=True)
class Evaluation:
    """What was counted, every metric of it, and what the rules say about it.

    That is a confusion matrix, or the sets of labels of a multi-label run, whose labels then
    stand in place of classes. `aggregate[key]` is one `MetricValue`; `per_class[key][label]`
    another for each class.
    `judgement` is what was stored with a run, None to ask the rules when somebody wants to know.
    `collapse` says which classes are groups of classes, None where all stand for themselves.
    """

    counted: Counted
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    judgement: Judgement | None = None
    collapse: Collapse | None = None

    @classmethod
    def of_matrix(cls, matrix: ConfusionMatrix) -> Evaluation:
        """Compute the whole suite."""
        suite = evaluate_stack(matrix.counts, ordinal=matrix.labels.has_declared_order)
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
        """Take values computed before, with or without intervals; classes in label order."""
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
    def flags(self) -> list[Flag]:
        """What the rules say: of a run those that were raised and have not been closed.

        An evaluation that is stored nowhere is judged here, by the rules that need only a
        matrix, with their default thresholds.
        """
        return list(self._judged.flags)

    @property
    def badge(self) -> bool:
        """Whether accuracy hides a minority class; False also where nothing can be said."""
        return self._judged.badge

    @property
    def may_hide(self) -> bool:
        """Whether accuracy may hide a minority class: a gap is in sight, and none is proved."""
        return self._judged.may_hide

    @cached_property
    def _judged(self) -> Judgement:
        return self.judgement or Judgement.of_counted(self.counted)

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names in the order of both axes of the matrix."""
        return self.counted.labels.names

    @property
    def matrix(self) -> ConfusionMatrix:
        """The confusion matrix. Raises `Conflict` for a multi-label run, which has none."""
        return matrix_of(self.counted)

    @property
    def confusion_matrix(self) -> pd.DataFrame:
        """Counts as a DataFrame with the axes named "actual" (index) and "predicted".

        Raises `Conflict` for a multi-label run.
        """
        import pandas as pd

        return pd.DataFrame(
            self.matrix.counts.copy(),
            index=pd.Index(self.labels, name="actual"),
            columns=pd.Index(self.labels, name="predicted"),
        )

    @property
    def multilabel_matrix(self) -> pd.DataFrame:
        """Mass of true labels (axis "actual") on predicted ones, after Krstinic et al. (2020).

        Raises `Conflict`, as do the other views of sets, where cases have one class each.
        """
        return label_frame(self._sets.matrix.cells, self._sets.labels)

    @property
    def row_share(self) -> pd.DataFrame:
        """The mass of each true label, where it went: not its recall. NaN without mass."""
        return label_frame(self._sets.matrix.row_share.value, self._sets.labels)

    @property
    def column_share(self) -> pd.DataFrame:
        """The mass on each predicted label, where it came from: not its precision."""
        return label_frame(self._sets.matrix.column_share.value, self._sets.labels)

    @property
    def label_counts(self) -> pd.DataFrame:
        """The two-by-two table of each label: columns tp, fn, fp and tn."""
        return counts_frame(self._sets.tally.labels, self._sets.labels)

    @property
    def empty_sets(self) -> EmptySetCounts:
        """Cases whose true or predicted set is empty, which the multi-label matrix leaves out."""
        return EmptySetCounts.of_tally(self._sets.tally, self._sets.labels)

    @property
    def _sets(self) -> CountedSets:
        return sets_of(self.counted)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`.

        Those of a multi-label run are named as `evaluate_multilabel` names them.
        """
        if isinstance(self.counted, CountedSets):
            return self._dict_of_sets(self.counted)
        groups = {} if self.collapse is None else {"groups": self.collapse.to_dict()}
        return {
            "labels": list(self.labels),
            **groups,
            "orientation": "actual_rows",
            "matrix": self.matrix.counts.tolist(),
            "aggregate": {key: value.to_dict() for key, value in self.aggregate.items()},
            "per_class": {
                key: [value.to_dict() for value in values.values()]
                for key, values in self.per_class.items()
            },
        }

    def _dict_of_sets(self, counted: CountedSets) -> dict[str, Any]:
        return {
            "labels": list(self.labels),
            "orientation": "actual_rows",
            "n_cases": counted.total,
            "aggregate": {key: value.to_dict() for key, value in self.aggregate.items()},
            "per_label": {
                key: [value.to_dict() for value in values.values()]
                for key, values in self.per_class.items()
            },
            **sets_dict(counted),
        }

    def _repr_html_(self) -> str:
        if isinstance(self.counted, CountedSets):
            from offdiag.sdk.evaluations.evaluation_html import set_html

            return set_html(self.counted, self.aggregate)
        from offdiag.sdk.evaluations.evaluation_html import evaluation_html

        note = None if self.collapse is None else self.collapse.words
        return evaluation_html(self.matrix, self.aggregate, note=note)


def _similar(wanted: object, known: Mapping[str, Any] | Sequence[str]) -> str:
    names = list(known)
    close = get_close_matches(str(wanted), names, n=3, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(repr(name) for name in close)}?"
    shown = ", ".join(repr(name) for name in names[:5])
    return f"Known are {shown}{', …' if len(names) > 5 else ''}."
