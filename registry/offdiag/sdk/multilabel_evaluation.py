"""What a multi-label evaluation looks like to the person who asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.multilabel.mass import MultilabelMatrix
from offdiag.sdk.evaluation import ClassValues, MetricTable

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

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; those by label as lists in label order."""
        return {
            "both_empty": self.both_empty,
            "n_true_empty": self.n_true_empty,
            "n_pred_empty": self.n_pred_empty,
            "missed_when_pred_empty": list(self.missed_when_pred_empty.values()),
            "spurious_when_true_empty": list(self.spurious_when_true_empty.values()),
        }


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
        return self._frame(self.matrix.cells)

    @property
    def row_share(self) -> pd.DataFrame:
        """The mass of each true label, where it went; a label without mass has NaN."""
        return self._frame(self.matrix.row_share.value)

    @property
    def column_share(self) -> pd.DataFrame:
        """The mass on each predicted label, where it came from; NaN where there is none."""
        return self._frame(self.matrix.column_share.value)

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
            "multilabel_matrix": self.matrix.cells.tolist(),
            "row_share": _nested(self.matrix.row_share.value),
            "column_share": _nested(self.matrix.column_share.value),
            "empty_sets": self.empty_sets.to_dict(),
        }

    def _repr_html_(self) -> str:
        from offdiag.sdk.metric_html import metric_table

        return metric_table(
            f"{self.n_cases} cases, sets of {len(self.labels)} labels", self.aggregate
        )

    def _frame(self, values: NDArray[np.float64]) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            values.copy(),
            index=pd.Index(self.labels, name="actual"),
            columns=pd.Index(self.labels, name="predicted"),
        )


def _nested(values: NDArray[np.float64]) -> list[list[float | None]]:
    """Rows of numbers, None where a share is undefined."""
    return [[None if np.isnan(cell) else cell for cell in row] for row in values.tolist()]
