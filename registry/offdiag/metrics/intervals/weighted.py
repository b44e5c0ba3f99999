"""Intervals of the suite for weighted cases, from resampled cases.

A weight belongs to its case, so cases are drawn with their weights. No metric is a binomial
proportion any more, and neither Wilson's interval nor the multinomial draw of cells applies.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.intervals.bootstrap import percentile_intervals_by_key, replicated
from offdiag.metrics.intervals.bounds import flagged
from offdiag.metrics.intervals.resampling import (
    CELL_AXIS,
    affordable,
    batches,
    bootstrap_name,
    generator,
    resampled_cases,
)
from offdiag.metrics.intervals.suite import (
    WITHOUT_INTERVAL,
    SuiteIntervals,
    judged_aggregate,
)
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, Suite, evaluate_stack
from offdiag.metrics.weighted import WeightedMatrix

PARTS_OF_TOTAL = 2**30
"""Resampled sums are rounded up to multiples of this part of their total. Whole numbers are
evaluated ten times as fast, and the change is far below the spread of the resamples."""

Floats = NDArray[np.float64]

_AGGREGATE = tuple(key for key in AGGREGATE_KEYS if key not in WITHOUT_INTERVAL)
_PER_CLASS = tuple(key for key in PER_CLASS_KEYS if key not in WITHOUT_INTERVAL)


def weighted_intervals(
    matrix: WeightedMatrix, *, seed: int, confidence: float = 0.95, replicates: int = 2_000
) -> SuiteIntervals:
    """Percentile intervals of all metrics of one weighted matrix, notes as for counts.

    `replicates` is the most resamples taken: with many cases fewer are, at least 200, and the
    method says how many. Raises `InvalidInput` for a confidence outside (0, 1) or no
    replicates.
    """
    level = confidence_level(confidence)
    wanted = positive_count(replicates, field="replicates")
    ordinal = matrix.labels.has_declared_order
    estimates = _values(evaluate_stack(matrix.weights, ordinal=ordinal))
    kinds = _Kinds(matrix)
    taken = affordable(wanted, kinds.count, n_numbers=matrix.n_classes**2)
    values = {key: np.empty((taken, *found.shape)) for key, found in estimates.items()}
    for part, stack in kinds.resampled(replicates=taken, seed=seed):
        for key, found in _values(evaluate_stack(stack, ordinal=ordinal)).items():
            values[key][part] = found
    intervals = percentile_intervals_by_key(
        values, estimates=estimates, confidence=level, method=bootstrap_name(taken)
    )
    cases, names = matrix.actual_cases, matrix.labels.names
    return SuiteIntervals(
        {key: judged_aggregate(intervals[key], key, cases, names) for key in _AGGREGATE},
        {key: flagged(intervals[key], cases, "class") for key in _PER_CLASS},
        level,
        seed,
        taken,
    )


def _values(suite: Suite) -> dict[str, Floats]:
    aggregate = {key: replicated(suite.aggregate[key]) for key in _AGGREGATE}
    return aggregate | {key: replicated(suite.per_class[key]) for key in _PER_CLASS}


class _Kinds:
    """Cases of equal cell and weight, ordered by cell."""

    def __init__(self, matrix: WeightedMatrix) -> None:
        self._n_classes = matrix.n_classes
        cell, weight = matrix.cases.cells(matrix.n_classes), matrix.cases.weight
        order = np.lexsort((weight, cell))
        cell, weight = cell[order], weight[order]
        is_new = np.ones(len(cell), dtype=np.bool_)
        is_new[1:] = (cell[1:] != cell[:-1]) | (weight[1:] != weight[:-1])
        first = np.flatnonzero(is_new)
        self.count = np.diff(np.append(first, len(cell))).astype(np.int64)
        self._weight = weight[first]
        self._begins = np.flatnonzero(np.diff(cell[first], prepend=-1))
        self._occupied = cell[first][self._begins]

    def resampled(
        self, *, replicates: int, seed: int
    ) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Weighted matrices (b, K, K) of resampled cases, in parts of their totals."""
        n_cells = self._n_classes**2
        rng = generator(seed)
        for part, drawn in resampled_cases(self.count, replicates=replicates, rng=rng):
            sums = np.add.reduceat(drawn * self._weight, self._begins, axis=CELL_AXIS)
            totals = np.einsum("rc->r", sums)[:, np.newaxis]
            shares = sums / np.where(totals > 0, totals, 1.0)
            for piece in batches(len(shares), n_cells=n_cells):
                stack = np.zeros((piece.stop - piece.start, n_cells), np.int64)
                stack[:, self._occupied] = np.ceil(shares[piece] * PARTS_OF_TOTAL)
                place = slice(part.start + piece.start, part.start + piece.stop)
                yield place, stack.reshape(len(stack), self._n_classes, self._n_classes)
