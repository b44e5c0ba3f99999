"""The confusion matrix of weighted cases: sums of weights, kept apart from counts.

A sum of weights is no number of cases. Rates and averages mean the same with weights, but
exact tests and binomial intervals do not exist for them, so nothing that needs counts accepts
this type.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import finite_vector

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class WeightedCases:
    """n cases with their actual and predicted class codes and weights of 0 or more, each (n,)."""

    actual: Codes
    predicted: Codes
    weight: NDArray[np.float64]

    @property
    def n_cases(self) -> int:
        return len(self.weight)

    def cells(self, n_classes: int) -> NDArray[np.int64]:
        """The cell of each case, actual * K + predicted, (n,)."""
        return self.actual.astype(np.int64) * n_classes + self.predicted


@dataclass(frozen=True, eq=False)
class WeightedMatrix:
    """Sums of the weights of (actual, predicted) pairs, and the cases they come from.

    `weights` is read-only float64 of shape (K, K), `weights[i, j]` belonging to actual class i
    and predicted class j.
    """

    weights: NDArray[np.float64]
    labels: LabelSet
    cases: WeightedCases

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
    def actual_cases(self) -> NDArray[np.int64]:
        """Number of cases of each actual class, whatever their weights, (K,)."""
        return np.bincount(self.cases.actual, minlength=self.n_classes).astype(np.int64)


def weighted_matrix(
    actual: Codes, predicted: Codes, sample_weight: ArrayLike, *, labels: LabelSet
) -> WeightedMatrix:
    """Add up the weights of n cases by their pair of classes.

    Raises `InvalidInput` unless there is one finite weight of 0 or more for each case.
    """
    weight = finite_vector(sample_weight, field="sample_weight")
    if len(weight) != len(actual):
        raise InvalidInput(
            f"there are {len(weight)} weights for {len(actual)} cases.",
            field="sample_weight",
            hint="Give one weight for each case.",
        )
    negative = np.flatnonzero(weight < 0)
    if negative.size:
        raise InvalidInput(
            f"the weight at index {negative[0]} is {weight[negative[0]]}.",
            field="sample_weight",
            hint="Weights are 0 or more.",
        )
    cases = WeightedCases(actual, predicted, weight)
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
