"""Where the choice of the cheapest run flips as one cost grows.

Cost is linear in the weights. Along a ray of weights W(s) = W0 + s (W1 - W0), or as the ratio
of two costs grows, the mean cost of each run is therefore a straight line, two runs cost the
same at most once, and which run is cheapest where is the lower envelope of the lines. All of
it is computed in rational numbers, so crossings are exact and no grid can miss one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
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
class BreakEven:
    """The s at which two runs cost the same, or None with the reason.

    `reason` is "same_everywhere" for equal lines and "never_equal" for parallel ones. Below
    `s` the run `cheaper_below` (0 or 1) costs less, above it the other.
    """

    s: float | None
    cheaper_below: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Stretch:
    """From `low` to `high` these runs cost least: one, or several with equal lines."""

    low: float
    high: float
    cheapest: tuple[int, ...]


def ray_of_ratio(matrix: ConfusionMatrix, costs: CostMatrix) -> CostRay:
    """Mean cost as the ratio r = W10 / W01 grows, for two classes, in units of W01.

    W01 (false alarm) and the diagonal stay as they are and W10 (miss) becomes r W01. Raises
    `InvalidInput` for other numbers of classes, a W01 that is not positive, and no cases.
    """
    false_alarm = costs.weights[0, 1] if costs.n_classes == 2 else 0.0
    if false_alarm <= 0:
        raise InvalidInput(
            "the ratio of a miss to a false alarm needs two classes and a positive W[0, 1].",
            field="weights",
            hint="Use a ray between two cost matrices instead.",
        )
    start, end = costs.weights.copy(), costs.weights.copy()
    start[1, 0], end[1, 0] = 0.0, false_alarm
    ray = ray_between(
        matrix,
        CostMatrix(start, costs.labels, costs.currency),
        CostMatrix(end, costs.labels, costs.currency),
    )
    unit = Fraction(float(false_alarm))
    return CostRay(ray.intercept / unit, ray.slope / unit)


def ray_between(
    matrix: ConfusionMatrix,
    start: CostMatrix,
    end: CostMatrix,
    *,
    prevalence: NDArray[np.float64] | None = None,
) -> CostRay:
    """Mean cost along W(s) = W_start + s (W_end - W_start); s is 0 at start and 1 at end.

    `prevalence` (K,) are class shares at deployment. Raises `InvalidInput` for labels that
    differ, for a matrix without cases, and for a class that is expected but has none.
    """
    if not matrix.labels.names == start.labels.names == end.labels.names:
        raise InvalidInput(
            "the cost matrices and the confusion matrix have different labels.",
            field="weights",
            hint="Use one label set, in one order.",
        )
    if matrix.total == 0:
        raise InvalidInput(
            "the matrix has no cases.", field="matrix", hint="Leave the run out of the chart."
        )
    if prevalence is not None and ((prevalence > 0) & (matrix.actual == 0)).any():
        raise InvalidInput(
            "a class that is expected to occur has no cases here.",
            field="prevalence",
            hint="Give it the share 0 or evaluate data that contain it.",
        )
    at_start = _mean_cost(matrix, start.weights, prevalence)
    at_end = _mean_cost(matrix, end.weights, prevalence)
    return CostRay(at_start, at_end - at_start)


def break_even(first: CostRay, second: CostRay) -> BreakEven:
    """Where two runs cost the same. Any s, also one outside the range that makes sense."""
    rise = second.slope - first.slope
    lead = first.intercept - second.intercept
    if rise == 0:
        return BreakEven(None, None, "same_everywhere" if lead == 0 else "never_equal")
    return BreakEven(float(lead / rise), 0 if rise < 0 else 1, None)


def cheapest_along(rays: Sequence[CostRay], *, low: float, high: float) -> tuple[Stretch, ...]:
    """Which run is cheapest on which stretch of [low, high]: the lower envelope.

    Stretches follow each other without gaps; the cheapest runs are given by their places in
    `rays`, ascending. At a border both neighbours (and any run that only touches there) cost
    the same. Raises `InvalidInput` for no rays or a range that is not finite and rising.
    """
    if not rays:
        raise InvalidInput("there are no runs.", field="rays", hint="Give at least one run.")
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(
            f"the range from {low} to {high} is not rising.", field="low", hint="Give low < high."
        )
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
    """Where a ray that rises less first undercuts the cheapest one, at the latest `end`.

    All such crossings lie ahead: a ray that rises less and costs no more would be cheapest.
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
    # The cases of a class stand for its share, whatever their number.
    return sum(
        (
            Fraction(float(share)) * _total_cost(cases, costs) / int(cases.sum())
            for share, cases, costs in zip(prevalence, matrix.counts, weights, strict=True)
            if share > 0
        ),
        start=Fraction(0),
    )


def _total_cost(counts: NDArray[np.int64], weights: NDArray[np.float64]) -> Fraction:
    # Few costs differ however many cells there are, and whole numbers add up fast.
    distinct, places = np.unique(weights.ravel(), return_inverse=True)
    cases = np.zeros(len(distinct), np.int64)
    np.add.at(cases, places, counts.ravel())
    return sum(
        (Fraction(float(cost)) * int(n) for cost, n in zip(distinct, cases, strict=True) if n),
        start=Fraction(0),
    )
