"""Costs as straight lines: cost curves, and where the choice of the cheapest run flips.

What a fixed classifier costs changes with prevalence and costs. Drummond and Holte (2006,
Machine Learning 65, 95) put both into one number from 0 to 1, the probability-cost PC(+) = q W10
/ (q W10 + (1 - q) W01), q being the prevalence of positives, W10 the cost of a miss and W01 that
of a false alarm. The cost as a part of the largest possible one is then a straight line from the
false-alarm rate to the miss rate.

Cost is also linear in the weights. Along a ray of weights W(s) = W0 + s (W1 - W0), or as the
ratio of two costs grows, the mean cost of each run is therefore a straight line, two runs cost
the same at most once, and which run is cheapest where is the lower envelope of the lines. All of
it is computed in rational numbers, so crossings are exact and no grid can miss one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix


@dataclass(frozen=True)
class CostLine:
    """Normalised expected cost of one classifier, fnr PC(+) + fpr (1 - PC(+)).

    Both rates are None, with the reason, where the test set lacks one side.
    """

    fpr: float | None
    fnr: float | None
    reason: str | None

    def at(self, pc_positive: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Cost at probability-costs in [0, 1]; None where the rates are undefined."""
        if self.fpr is None or self.fnr is None:
            return None
        return self.fnr * pc_positive + self.fpr * (1.0 - pc_positive)

    def useful_range(self) -> tuple[float, float] | None:
        """Probability-costs between which the classifier beats both constant answers.

        "Always negative" costs PC(+) and "always positive" 1 - PC(+). None where it never
        beats both, which means a recall not above the false-alarm rate.
        """
        if self.fpr is None or self.fnr is None or self.fpr + self.fnr >= 1.0:
            return None
        # The line meets PC(+) at fpr / (1 - fnr + fpr) and 1 - PC(+) at the mirror image.
        low = self.fpr / (1.0 - self.fnr + self.fpr)
        high = (1.0 - self.fpr) / (1.0 - self.fpr + self.fnr)
        return low, high


def cost_line(matrix: ConfusionMatrix, positive: int) -> CostLine:
    """The cost line of one class against the rest.

    `positive` is the code of the class. Raises `InvalidInput` for a code out of range.
    """
    if not 0 <= positive < matrix.n_classes:
        raise InvalidInput(
            f"class code {positive} is out of range.",
            field="positive",
            hint=f"Codes run from 0 to {matrix.n_classes - 1}.",
        )
    positives = int(matrix.actual[positive])
    negatives = matrix.total - positives
    if positives == 0:
        reason = Reason.NO_ACTUAL_POSITIVES if negatives else Reason.NO_CASES
        return CostLine(None, None, reason.value)
    if negatives == 0:
        return CostLine(None, None, Reason.NO_ACTUAL_NEGATIVES.value)
    hits = int(matrix.counts[positive, positive])
    false_alarms = int(matrix.predicted[positive]) - hits
    return CostLine(false_alarms / negatives, (positives - hits) / positives, None)


def probability_cost(prevalence: float, *, miss: float, false_alarm: float) -> float | None:
    """PC(+) of a prevalence in [0, 1] and two costs; None where both terms are 0.

    Raises `InvalidInput` for negative costs or a prevalence outside [0, 1].
    """
    if not 0.0 <= prevalence <= 1.0:
        raise InvalidInput(
            f"{prevalence} is not between 0 and 1.", field="prevalence", hint="Give a share."
        )
    for field, cost in (("miss", miss), ("false_alarm", false_alarm)):
        if not 0.0 <= cost < float("inf"):
            raise InvalidInput(
                f"{cost} is no cost of an error.", field=field, hint="Give a number from 0."
            )
    of_misses, of_alarms = prevalence * miss, (1.0 - prevalence) * false_alarm
    both = of_misses + of_alarms
    return of_misses / both if both > 0 else None


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
