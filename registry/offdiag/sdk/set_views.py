"""What was counted about sets of labels, as frames and plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.counted import CountedSets
from offdiag.metrics.multilabel.matrix import MultilabelMatrix
from offdiag.metrics.multilabel.tally import LabelCounts, SetTally

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
