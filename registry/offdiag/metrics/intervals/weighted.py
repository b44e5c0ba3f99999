"""Weighted samples: the matrix of sums of weights, and the intervals of its metrics.

A sum of weights is no number of samples. Rates and averages mean the same with weights, but
exact tests and binomial intervals do not exist for them, so nothing that needs counts accepts
this matrix. A weight belongs to its sample, so intervals come from samples drawn with their
weights: neither Wilson's interval nor the multinomial draw of cells applies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import confidence_level, finite_vector, positive_count
from offdiag.metrics.intervals.bounds import flagged
from offdiag.metrics.intervals.resampling import (
    CELL_AXIS,
    affordable,
    batches,
    generator,
    percentile_intervals_by_key,
    replicated,
    resampled_samples,
    row_bootstrap_name,
)
from offdiag.metrics.intervals.suite import WITHOUT_INTERVAL, SuiteIntervals, judged_aggregate
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, Suite, evaluate_stack

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class WeightedSamples:
    """n cases with their actual and predicted class codes and weights of 0 or more, each (n,)."""

    actual: Codes
    predicted: Codes
    weight: NDArray[np.float64]

    @property
    def n_samples(self) -> int:
        return len(self.weight)

    def cells(self, n_classes: int) -> NDArray[np.int64]:
        """The cell of each case, actual * K + predicted, (n,)."""
        return self.actual.astype(np.int64) * n_classes + self.predicted


@dataclass(frozen=True, eq=False)
class WeightedMatrix:
    """Sums of the weights of (actual, predicted) pairs, and the samples they come from.

    `weights` is read-only float64 of shape (K, K), `weights[i, j]` belonging to actual class i
    and predicted class j.
    """

    weights: NDArray[np.float64]
    labels: LabelSet
    cases: WeightedSamples

    def __post_init__(self) -> None:
        self.weights.flags.writeable = False

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @cached_property
    def total(self) -> float:
        """Sum of all weights."""
        return float(self.weights.sum())

    @cached_property
    def actual_samples(self) -> NDArray[np.int64]:
        """Number of samples of each actual class, whatever their weights, (K,)."""
        return np.bincount(self.cases.actual, minlength=self.n_classes).astype(np.int64)


def weighted_matrix(
    actual: Codes, predicted: Codes, sample_weight: ArrayLike, *, labels: LabelSet
) -> WeightedMatrix:
    """Add up the weights of n samples by their pair of classes.

    Raises `InvalidInput` unless there is one finite weight of 0 or more for each case.
    """
    weight = finite_vector(sample_weight, field="sample_weight")
    if len(weight) != len(actual):
        raise InvalidInput(
            f"there are {len(weight)} weights for {len(actual)} samples.",
            field="sample_weight",
            hint="Give one weight for each sample.",
        )
    negative = np.flatnonzero(weight < 0)
    if negative.size:
        raise InvalidInput(
            f"the weight at index {negative[0]} is {weight[negative[0]]}.",
            field="sample_weight",
            hint="Weights are 0 or more.",
        )
    cases = WeightedSamples(actual, predicted, weight)
    size = len(labels)
    found = np.bincount(cases.cells(size), weights=weight, minlength=size * size)
    sums = found.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        total = sums.sum()
    if not np.isfinite(total):
        raise InvalidInput(
            "the weights add up to more than the largest number.",
            field="sample_weight",
            hint="Rescale them.",
        )
    return WeightedMatrix(sums.reshape(size, size), labels, cases)


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
    labels = matrix.labels

    def evaluate(stack: NDArray[Any]) -> dict[str, Floats]:
        return _values(
            evaluate_stack(stack, ordinal=labels.has_declared_order, names=labels.names)
        )

    estimates = evaluate(matrix.weights)
    kinds = _Kinds(matrix)
    taken = affordable(wanted, kinds.count, n_numbers=matrix.n_classes**2)
    values = {key: np.empty((taken, *found.shape)) for key, found in estimates.items()}
    for part, stack in kinds.resampled(replicates=taken, seed=seed):
        for key, found in evaluate(stack).items():
            values[key][part] = found
    intervals = percentile_intervals_by_key(
        values, estimates=estimates, confidence=level, method=row_bootstrap_name(taken)
    )
    cases, names = matrix.actual_samples, matrix.labels.names
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
        for part, drawn in resampled_samples(self.count, replicates=replicates, rng=rng):
            sums = np.add.reduceat(drawn * self._weight, self._begins, axis=CELL_AXIS)
            totals = np.einsum("rc->r", sums)[:, np.newaxis]
            shares = sums / np.where(totals > 0, totals, 1.0)
            for piece in batches(len(shares), n_cells=n_cells):
                stack = np.zeros((piece.stop - piece.start, n_cells), np.int64)
                stack[:, self._occupied] = np.ceil(shares[piece] * PARTS_OF_TOTAL)
                place = slice(part.start + piece.start, part.start + piece.stop)
                yield place, stack.reshape(len(stack), self._n_classes, self._n_classes)
