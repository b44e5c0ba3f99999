"""Gradients of the costs with respect to the cells of the confusion matrix.

The mean cost is a weighted sum of cells, and what a constant or a perfect answer costs is one
of the actual cases, so these gradients are the weights themselves. The best constant answer is
taken as fixed, which is right wherever it is the only best one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.intervals.gradients import Codes, Floats, Gradient
from offdiag.metrics.orientation import actual_totals


@dataclass(frozen=True)
class _Linear:
    """A value with slope factor_i W_ij + offset_i at cell (i, j)."""

    value: float
    factor: Floats
    offset: Floats

    def __add__(self, other: _Linear) -> _Linear:
        return _Linear(
            self.value + other.value, self.factor + other.factor, self.offset + other.offset
        )

    def __mul__(self, number: float) -> _Linear:
        return _Linear(self.value * number, self.factor * number, self.offset * number)

    def __sub__(self, other: _Linear) -> _Linear:
        return self + other * -1.0

    def __truediv__(self, other: _Linear) -> _Linear:
        quotient = float(np.divide(self.value, other.value))
        slopes = (self - other * quotient) * float(np.divide(1.0, other.value))
        return _Linear(quotient, slopes.factor, slopes.offset)


def cost_gradients(
    matrix: ConfusionMatrix, costs: CostMatrix, prevalence: Floats | None
) -> dict[str, Gradient]:
    """Gradients of the five costs of a non-empty matrix, optionally at another prevalence.

    Value and slopes are not finite where a cost is undefined.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, trivial, perfect = (
            _at_test_prevalence(matrix, costs)
            if prevalence is None
            else _at_prevalence(matrix, costs, prevalence)
        )
        found = {
            "total_cost": mean * float(matrix.total),
            "mean_cost": mean,
            "best_trivial_cost": trivial * float(matrix.total),
            "cost_ratio_to_best_trivial": mean / trivial,
            "skill_vs_trivial": (trivial - mean) / (trivial - perfect),
        }
    return {key: _gradient(linear, costs.weights) for key, linear in found.items()}


def _at_test_prevalence(
    matrix: ConfusionMatrix, costs: CostMatrix
) -> tuple[_Linear, _Linear, _Linear]:
    """Mean, best trivial and perfect cost per case with the classes as tested."""
    shares, weights = matrix.actual / matrix.total, costs.weights
    nothing = np.zeros(matrix.n_classes)
    mean = float((matrix.counts * weights).sum() / matrix.total)
    best = weights[:, int((shares @ weights).argmin())]
    right = np.diagonal(weights)
    return (
        _Linear(mean, nothing + 1.0, nothing),
        _Linear(float(shares @ best), nothing, best),
        _Linear(float(shares @ right), nothing, right),
    )


def _at_prevalence(
    matrix: ConfusionMatrix, costs: CostMatrix, prevalence: Floats
) -> tuple[_Linear, _Linear, _Linear]:
    """The same with the cost of each actual class weighted by its share at deployment.

    What constant answers cost no longer depends on the cases.
    """
    weights = costs.weights
    nothing = np.zeros(matrix.n_classes)
    support = np.where(prevalence > 0, matrix.actual, 1)
    class_means = actual_totals(matrix.counts * weights) / support
    factor = prevalence * matrix.total / support
    trivial = float((prevalence @ weights).min())
    perfect = float(prevalence @ np.diagonal(weights))
    return (
        _Linear(float(prevalence @ class_means), factor, -factor * class_means),
        _Linear(trivial, nothing, nothing),
        _Linear(perfect, nothing, nothing),
    )


def _gradient(linear: _Linear, weights: Floats) -> Gradient:
    def cell_term(actual: Codes, predicted: Codes) -> Floats:
        slopes: Floats = linear.factor[actual] * weights[actual, predicted]
        return slopes

    nothing = np.zeros(len(weights))
    return Gradient(linear.value, nothing, linear.offset, nothing, cell_term)
