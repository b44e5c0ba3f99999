"""Weighted samples in memory: the matrix of sums of weights, and the samples themselves.

A sum of weights is no number of samples. Rates and averages mean the same with weights, but
exact tests and binomial intervals do not exist for them, so nothing that needs counts accepts
this matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.weighted.counts import WeightedCounts, read_weights

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
    def counted(self) -> WeightedCounts:
        """Numbers, weights and squared weights of the samples by pair of classes."""
        cases = self.cases
        return WeightedCounts.of_samples(cases.actual, cases.predicted, cases.weight, self.labels)

    @cached_property
    def actual_samples(self) -> NDArray[np.int64]:
        """Number of samples of each actual class, whatever their weights, (K,)."""
        return np.bincount(self.cases.actual, minlength=self.n_classes).astype(np.int64)


def weighted_matrix(
    actual: Codes, predicted: Codes, sample_weight: ArrayLike, *, labels: LabelSet
) -> WeightedMatrix:
    """Add up the weights of n samples by their pair of classes.

    Raises `InvalidInput` as `read_weights` does.
    """
    weight = read_weights(sample_weight, n_samples=len(actual))
    cases = WeightedSamples(actual, predicted, weight)
    size = len(labels)
    found = np.bincount(cases.cells(size), weights=weight, minlength=size * size)
    sums = found.astype(np.float64, copy=False)
    return WeightedMatrix(sums.reshape(size, size), labels, cases)
