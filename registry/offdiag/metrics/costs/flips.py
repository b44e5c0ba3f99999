"""Which run to choose as one price grows: where it flips, and how far the others are behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.break_even import CostRay, Stretch, cheapest_along, ray_between
from offdiag.metrics.costs.matrix import CostMatrix

LOWEST, HIGHEST = 1e-4, 1e6
"""Multiples beyond which nobody asks for a flip."""
RUN_AXIS = 0


@dataclass(frozen=True)
class Lever:
    """A price that is moved while all others stay: that of one cell, or of all errors on a class.

    The price of cell (`actual`, `predicted`) is x times `unit`; without `predicted` the costs of
    all errors on `actual` are x times what they are. `now` is the x of the costs as they are,
    positive or 0.
    """

    actual: int
    predicted: int | None
    unit: float
    now: float

    def moved(self, costs: CostMatrix, x: float) -> CostMatrix:
        """The costs with the lever at x."""
        weights = costs.weights.copy()
        if self.predicted is not None:
            weights[self.actual, self.predicted] = x * self.unit
        else:
            right = weights[self.actual, self.actual]
            weights[self.actual] *= x
            weights[self.actual, self.actual] = right
        return CostMatrix(weights, costs.labels, costs.currency)


def lever_on_cell(costs: CostMatrix, actual: int, predicted: int) -> Lever | None:
    """The price of one kind of error, in units of the opposite one.

    Where the opposite error costs nothing, or earns something, the unit is the lowest positive
    price of any other error. None where there is none, where both codes are the same, and
    where the error itself earns something.
    """
    if actual == predicted:
        return None
    price = float(costs.weights[actual, predicted])
    unit = float(costs.weights[predicted, actual])
    if unit <= 0:
        is_other_error = ~np.eye(costs.n_classes, dtype=np.bool_)
        is_other_error[actual, predicted] = False
        positive = costs.weights[is_other_error & (costs.weights > 0)]
        unit = float(positive.min()) if positive.size else 0.0
    if unit <= 0 or price < 0:
        return None
    return Lever(actual, predicted, unit, price / unit)


def lever_on_class(actual: int) -> Lever:
    """The prices of all errors on a class, in units of what they are."""
    return Lever(actual, None, 1.0, 1.0)


def rays_of(
    matrices: Sequence[ConfusionMatrix],
    costs: CostMatrix,
    lever: Lever,
    *,
    prevalence: NDArray[np.float64] | None = None,
) -> tuple[CostRay, ...]:
    """Mean cost of each run as a straight line in x. Raises as `ray_between`."""
    start, end = lever.moved(costs, 0.0), lever.moved(costs, 1.0)
    return tuple(ray_between(matrix, start, end, prevalence=prevalence) for matrix in matrices)


def choices(rays: Sequence[CostRay]) -> tuple[Stretch, ...]:
    """The cheapest runs from `LOWEST` to `HIGHEST`, stretch by stretch."""
    return cheapest_along(rays, low=LOWEST, high=HIGHEST)


def times_the_cheapest(rays: Sequence[CostRay], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cost of each run over that of the cheapest one, shape (runs, points), 1 or more.

    NaN at points where the cheapest run costs nothing or earns something: no run is a multiple
    of that.
    """
    lines = np.array([[float(ray.intercept), float(ray.slope)] for ray in rays])
    costs = lines[:, :1] + lines[:, 1:] * at
    cheapest = costs.min(axis=RUN_AXIS)
    undefined = np.full_like(costs, np.nan)
    found: NDArray[np.float64] = np.divide(costs, cheapest, out=undefined, where=cheapest > 0)
    return found
