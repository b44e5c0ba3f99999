"""Evaluating sets of labels in memory, and the resulting evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.intervals import custom_samples as custom
from offdiag.metrics.multilabel.matrix import MultilabelMatrix
from offdiag.metrics.multilabel.suite import (
    label_metrics,
    label_score_metrics,
    set_metrics,
    set_score_metrics,
)
from offdiag.metrics.multilabel.tally import tally_sets
from offdiag.sdk.evaluations.evaluation import EmptySetCounts, label_frame, matrix_dict
from offdiag.sdk.evaluations.tables import ClassValues, MetricResults, MetricTable

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["EmptySetCounts", "MultilabelEvaluation"]


@dataclass(frozen=True, repr=False)
class MultilabelEvaluation(MetricResults):
    """Every metric of predicted label sets, returned by `evaluate_multilabel`.

    * `aggregate[key]`: one `MetricValue`.
    * `per_label[key][label]`: the `MetricValue` of a label, from its own two-by-two table.
    * `matrix`: the fractional confusion matrix of Krstinic et al. (2020). Its shares are **not**
      the recall and precision of the labels, which are in `per_label`.
    * `actual`, `predicted`: the sets, bool (n, q).
    * `scores`: the scores, (n, q), or None.
    """

    label_set: LabelSet
    n_samples: int
    aggregate: MetricTable[MetricValue]
    per_label: MetricTable[ClassValues]
    matrix: MultilabelMatrix
    empty_sets: EmptySetCounts
    actual: NDArray[np.bool_]
    predicted: NDArray[np.bool_]
    scores: NDArray[Any] | None = None
    confidence: float = 0.95

    @property
    def n_cases(self) -> int:
        """Former name of `n_samples`, kept for one minor version."""
        return self.n_samples

    @property
    def multilabel_matrix(self) -> pd.DataFrame:
        """The fractional confusion matrix, with the axes "actual" (index) and "predicted"."""
        return label_frame(self.matrix.cells, self.label_set)

    @property
    def row_share(self) -> pd.DataFrame:
        """Rows of the multi-label matrix as shares; NaN for an empty row."""
        return label_frame(self.matrix.row_share.value, self.label_set)

    @property
    def column_share(self) -> pd.DataFrame:
        """Columns of the multi-label matrix as shares; NaN for an empty column."""
        return label_frame(self.matrix.column_share.value, self.label_set)

    def _by_class(self) -> MetricTable[ClassValues]:
        return self.per_label

    def _about(self) -> str:
        return f"{self.n_samples:,} examples, {len(self.labels)} labels"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "labels": list(self.labels),
            "orientation": "actual_rows",
            "n_cases": self.n_samples,
            "aggregate": self.aggregate.plain(),
            "per_label": self.per_label.plain(),
            **matrix_dict(self.matrix),
            "empty_sets": self.empty_sets.to_dict(),
        }

    def _title(self) -> str:
        return f"{self.n_samples} examples, sets of {len(self.labels)} labels"


def evaluate_multilabel(
    *,
    y_true: object,
    y_pred: object,
    labels: LabelSet | Iterable[object] | None = None,
    y_score: object = None,
) -> MultilabelEvaluation:
    """Compute every metric of predicted against true sets of labels, without storing anything.

    Returns a `MultilabelEvaluation`.

    * `y_true`, `y_pred`: (n, q) tables of 0 and 1 in label order (array, DataFrame, sparse matrix,
      nested lists), or n sets or lists of labels.
    * `labels`: the labels in order. Default: the column names of tables, or "0", "1", … if they
      have none; for sets, the sorted labels found.
    * `y_score`: scores, (n, q) in label order or with columns named after the labels. They add the
      ranking metrics and the areas of each label.

    Warns with `LabelNote` about labels that look alike or list others, as "sea;sky". Raises
    `InvalidInput` for empty or unequal arguments, undeclared labels, a label that occurs
    twice in a set, numbers other than 0 and 1, and scores that are not finite.

    >>> evaluation = evaluate_multilabel(
    ...     y_true=[{"sky", "sea"}, {"sea"}], y_pred=[{"sky"}, {"sea"}]
    ... )
    >>> evaluation.aggregate["example_jaccard"].value
    0.75
    >>> evaluation.row_share.loc["sea", "sky"]
    np.float64(0.5)
    """
    from offdiag.inputs.ids import aligned
    from offdiag.inputs.label_sets import encode_sets
    from offdiag.inputs.scores import score_table

    given = aligned(y_true=y_true, y_pred=y_pred, y_score=y_score)
    sets = encode_sets(y_true=given["y_true"], y_pred=given["y_pred"], labels=labels)
    warn_of(label_notes(sets.labels.names))
    tally = tally_sets(sets.actual, sets.predicted)
    aggregate = {
        **set_metrics(tally),
        **custom.set_values(sets.actual, sets.predicted, sets.labels.names),
    }
    per_label = dict(label_metrics(tally.labels))
    scores = None
    if y_score is not None:
        scores = score_table(given["y_score"], n_samples=tally.n_samples, labels=sets.labels)
        _require_columns(scores, sets.labels)
        aggregate |= set_score_metrics(sets.actual, scores)
        per_label |= label_score_metrics(sets.actual, scores)
    return MultilabelEvaluation(
        label_set=sets.labels,
        n_samples=tally.n_samples,
        aggregate=MetricTable(aggregate),
        per_label=MetricTable(
            {key: ClassValues(sets.labels, values) for key, values in per_label.items()}
        ),
        matrix=tally.matrix(),
        empty_sets=EmptySetCounts.of_tally(tally, sets.labels),
        actual=sets.actual,
        predicted=sets.predicted,
        scores=scores,
    )


def _require_columns(scores: NDArray[Any], labels: LabelSet) -> None:
    if scores.shape[1] != len(labels):
        raise InvalidInput(
            f"there are {scores.shape[1]} columns of scores for {len(labels)} labels "
            f"{labels.preview()}.",
            field="y_score",
            hint="Give one column for each label, in label order.",
        )
