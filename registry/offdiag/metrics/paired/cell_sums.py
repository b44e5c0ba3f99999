"""Adding up draws of triples into stacks of confusion matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TRIPLE_AXIS = 1
"""Axis of draws of shape (b, m) along which the triple changes."""


@dataclass(frozen=True)
class CellSums:
    """Where each of m triples is counted: triples sorted by cell, and where cells begin."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    cells: NDArray[np.int64]
    n_classes: int

    def matrices(self, draws: NDArray[np.int64]) -> NDArray[np.int64]:
        """Stack (b, K, K) of the matrices of b draws of the m triples, shape (b, m)."""
        stack = np.zeros((len(draws), self.n_classes * self.n_classes), np.int64)
        stack[:, self.cells] = np.add.reduceat(draws[:, self.order], self.starts, axis=TRIPLE_AXIS)
        return stack.reshape(len(draws), self.n_classes, self.n_classes)


def cell_sums(cells: NDArray[np.int64], *, n_classes: int) -> CellSums:
    """Prepare for triples that lie in the given flattened cells, shape (m,), m at least 1."""
    order = np.argsort(cells, kind="stable")
    distinct, starts = np.unique(cells[order], return_index=True)
    return CellSums(order, starts, distinct, n_classes)
