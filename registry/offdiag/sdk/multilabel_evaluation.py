"""What a multi-label evaluation looks like to the person who asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.multilabel.matrix import MultilabelMatrix
from offdiag.sdk.evaluation import ClassValues, MetricTable
from offdiag.sdk.set_views import EmptySetCounts, label_frame, matrix_dict

__all__ = ["EmptySetCounts", "MultilabelEvaluation"]

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class MultilabelEvaluation:
    """Every metric of predicted label sets.

    `aggregate[key]` is one `MetricValue`; `per_label[key][label]` comes from the label's own
    two-by-two table. `matrix` is that of Krstinic et al. (2020): its shares are **not** the
    recall and precision of the labels, which stand in `per_label`. `actual` and `predicted`
    are the sets themselves, bool (n, q), and `scores` (n, q) what they were scored with.
    """

    label_set: LabelSet
    n_cases: int
    aggregate: MetricTable[MetricValue]
    per_label: MetricTable[ClassValues]
    matrix: MultilabelMatrix
    empty_sets: EmptySetCounts
    actual: NDArray[np.bool_]
    predicted: NDArray[np.bool_]
    scores: NDArray[Any] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names in the order of both axes of the matrix."""
        return self.label_set.names

    @property
    def multilabel_matrix(self) -> pd.DataFrame:
        """Mass of true labels (axis "actual") on predicted ones (axis "predicted")."""
        return label_frame(self.matrix.cells, self.label_set)

    @property
    def row_share(self) -> pd.DataFrame:
        """The mass of each true label, where it went; a label without mass has NaN."""
        return label_frame(self.matrix.row_share.value, self.label_set)

    @property
    def column_share(self) -> pd.DataFrame:
        """The mass on each predicted label, where it came from; NaN where there is none."""
        return label_frame(self.matrix.column_share.value, self.label_set)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "labels": list(self.labels),
            "orientation": "actual_rows",
            "n_cases": self.n_cases,
            "aggregate": {key: value.to_dict() for key, value in self.aggregate.items()},
            "per_label": {
                key: [value.to_dict() for value in values.values()]
                for key, values in self.per_label.items()
            },
            **matrix_dict(self.matrix),
            "empty_sets": self.empty_sets.to_dict(),
        }

    def _repr_html_(self) -> str:
        from offdiag.sdk.metric_html import metric_table

        return metric_table(
            f"{self.n_cases} cases, sets of {len(self.labels)} labels", self.aggregate
        )
