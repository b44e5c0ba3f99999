"""Going from cell to cell of a matrix: errors by size, correct cells by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix

CellCodes = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CellNeighbours:
    """A cell is the `number`-th of `total`, counted from 1; its neighbours as codes."""

    number: int
    total: int
    before: CellCodes | None
    after: CellCodes | None


def neighbours(matrix: ConfusionMatrix, actual: int, predicted: int) -> CellNeighbours | None:
    """The cells around one when all of its kind stand by size; None for an empty cell.

    Errors and correct cells are kinds of their own. Equal cells stand in label order.
    """
    if not matrix.counts[actual, predicted]:
        return None
    cells = matrix.counts.copy()
    cells[_other_kind(matrix, actual == predicted)] = 0
    rows, columns = np.nonzero(cells)
    order = np.argsort(-cells[rows, columns], kind="stable")
    ordered = list(zip(rows[order].tolist(), columns[order].tolist(), strict=True))
    place = ordered.index((actual, predicted))
    return CellNeighbours(
        number=place + 1,
        total=len(ordered),
        before=ordered[place - 1] if place else None,
        after=ordered[place + 1] if place + 1 < len(ordered) else None,
    )


def _other_kind(matrix: ConfusionMatrix, is_diagonal: bool) -> NDArray[np.bool_]:
    on_diagonal = np.eye(matrix.n_classes, dtype=np.bool_)
    return ~on_diagonal if is_diagonal else on_diagonal
