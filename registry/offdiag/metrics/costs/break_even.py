"""Costs as straight lines: where the choice of the cheapest run flips.

Cost is linear in the weights. Along a ray of weights W(s) = W0 + s (W1 - W0), the mean cost of
each run is therefore a straight line, two runs cost the same at most once, and the cheapest run at
each point follows the lower envelope of the lines. Everything is computed in rational numbers, so
crossings are exact and none can fall between grid points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix


@dataclass(frozen=True, slots=True)
class CostRay:
    """Mean cost of one run along a ray, intercept + slope s, exactly."""

    intercept: Fraction
    slope: Fraction

    def at(self, s: float) -> float:
        return float(self.intercept + self.slope * Fraction(s))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The runs that cost least from `low` to `high`: one, or several with equal lines."""

    low: float
    high: float
    cheapest: tuple[int, ...]


def ray_between(
    matrix: ConfusionMatrix,
    start: CostMatrix,
    end: CostMatrix,
    *,
    prevalence: NDArray[np.float64] | None = None,
) -> CostRay:
    """Mean cost along W(s) = W_start + s (W_end - W_start); s is 0 at start and 1 at end.

    All have the same labels, and the matrix has samples. `prevalence` (K,) are class shares at
    deployment, 0 for classes without samples.
    """
    at_start = _mean_cost(matrix, start.weights, prevalence)
    at_end = _mean_cost(matrix, end.weights, prevalence)
    return CostRay(at_start, at_end - at_start)


def cheapest_along(rays: Sequence[CostRay], *, low: float, high: float) -> tuple[Stretch, ...]:
    """The cheapest run on each stretch of [low, high]: the lower envelope.

    Stretches follow each other without gaps; the cheapest runs are given by their positions in
    `rays`, of which there is at least one, ascending. At a border both neighbours (and any run
    that only touches there) cost the same.
    """
    place, end = Fraction(low), Fraction(high)
    stretches = []
    while place < end:
        cheapest = _cheapest_just_above(rays, place)
        until = _next_crossing(rays, cheapest, end)
        same = tuple(index for index, ray in enumerate(rays) if ray == cheapest)
        stretches.append(Stretch(float(place), float(until), same))
        place = until
    return tuple(stretches)


def _cheapest_just_above(rays: Sequence[CostRay], place: Fraction) -> CostRay:
    return min(rays, key=lambda ray: (ray.intercept + ray.slope * place, ray.slope))


def _next_crossing(rays: Sequence[CostRay], cheapest: CostRay, end: Fraction) -> Fraction:
    """Where a ray that rises less first undercuts the cheapest one, `end` at the latest.

    All such crossings lie ahead: a ray that rises less and costs no more would be the cheapest.
    """
    crossings = (
        (ray.intercept - cheapest.intercept) / (cheapest.slope - ray.slope)
        for ray in rays
        if ray.slope < cheapest.slope
    )
    return min((*crossings, end))


def _mean_cost(
    matrix: ConfusionMatrix,
    weights: NDArray[np.float64],
    prevalence: NDArray[np.float64] | None,
) -> Fraction:
    if prevalence is None:
        return _total_cost(matrix.counts, weights) / matrix.total
    # The samples of a class represent its share, whatever their number.
    return sum(
        (
            Fraction(float(share)) * _total_cost(cases, costs) / int(cases.sum())
            for share, cases, costs in zip(prevalence, matrix.counts, weights, strict=True)
            if share > 0
        ),
        start=Fraction(0),
    )


def _total_cost(counts: NDArray[np.int64], weights: NDArray[np.float64]) -> Fraction:
    # There are few distinct costs however many cells there are, and whole numbers add up fast.
    distinct, places = np.unique(weights.ravel(), return_inverse=True)
    cases = np.zeros(len(distinct), np.int64)
    np.add.at(cases, places, counts.ravel())
    return sum(
        (Fraction(float(cost)) * int(n) for cost, n in zip(distinct, cases, strict=True) if n),
        start=Fraction(0),
    )


LOWEST, HIGHEST = 1e-4, 1e6
"""Multiples beyond which a flip is of no interest."""
RUN_AXIS = 0


@dataclass(frozen=True)
class Lever:
    """A cost that varies while all others stay: that of one cell, or of all errors on a class.

    The cost of cell (`actual`, `predicted`) is x times `unit`; without `predicted`, the costs of
    all errors on `actual` are multiplied by x, relative to their values at x = 1. `now` is the x
    of the present costs, positive or 0.
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
            weights[self.actual] *= x / self.now
            weights[self.actual, self.actual] = right
        return CostMatrix(weights, costs.labels, costs.currency)


def lever_on_cell(costs: CostMatrix, actual: int, predicted: int) -> Lever | None:
    """The cost of one kind of error, in units of the opposite error.

    If the opposite error costs nothing, or earns something, the unit is the lowest positive
    cost of any other error. None if there is no such cost, if both codes are the same, and
    if the error itself earns something.
    """
    if actual == predicted:
        return None
    cost = float(costs.weights[actual, predicted])
    unit = float(costs.weights[predicted, actual])
    if unit <= 0:
        is_other_error = ~np.eye(costs.n_classes, dtype=np.bool_)
        is_other_error[actual, predicted] = False
        positive = costs.weights[is_other_error & (costs.weights > 0)]
        unit = float(positive.min()) if positive.size else 0.0
    if unit <= 0 or cost < 0:
        return None
    return Lever(actual, predicted, unit, cost / unit)


def lever_on_class(actual: int, *, now: float = 1.0) -> Lever:
    """The costs of all errors on a class, at present `now` times their values at x = 1."""
    return Lever(actual, None, 1.0, now)


def rays_of(
    matrices: Sequence[ConfusionMatrix],
    costs: CostMatrix,
    lever: Lever,
    *,
    prevalence: NDArray[np.float64] | None = None,
) -> tuple[CostRay, ...]:
    """Mean cost of each run as a straight line in x, as `ray_between`."""
    start, end = lever.moved(costs, 0.0), lever.moved(costs, 1.0)
    return tuple(ray_between(matrix, start, end, prevalence=prevalence) for matrix in matrices)


def choices(rays: Sequence[CostRay]) -> tuple[Stretch, ...]:
    """The cheapest runs from `LOWEST` to `HIGHEST`, stretch by stretch."""
    return cheapest_along(rays, low=LOWEST, high=HIGHEST)


def times_the_cheapest(rays: Sequence[CostRay], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cost of each run divided by that of the cheapest, shape (runs, points), 1 or more.

    NaN at points where the cheapest run costs nothing or earns something, since no run costs a
    multiple of that.
    """
    lines = np.array([[float(ray.intercept), float(ray.slope)] for ray in rays])
    costs = lines[:, :1] + lines[:, 1:] * at
    cheapest = costs.min(axis=RUN_AXIS)
    undefined = np.full_like(costs, np.nan)
    found: NDArray[np.float64] = np.divide(costs, cheapest, out=undefined, where=cheapest > 0)
    return found
