"""Whether the cheapest run at a cost ratio leads significantly, for all ratios at once.

The paired difference in cost of two runs is linear in the ratio, and so is what each example
contributes to it. Means and squares of both coefficients give an interval of the difference at
every ratio. The squares are not centred, because without a difference the mean is 0: otherwise
three examples that all favour one run would have no spread. After Scheffé with two degrees of
freedom the interval holds at all ratios simultaneously, and the error is divided among the pairs
of runs (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.costs.break_even import Lever, Stretch
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.gradients import Floats

LOW, HIGH = 1.0, 100.0
"""The range of cost ratios that is examined."""
_ERROR = 0.05
_POINTS = 201


@dataclass(frozen=True, slots=True)
class Lead:
    """From `low` to `high` the run at place `run` costs least.

    `is_certain` says whether it costs significantly less than every other run at some ratio there,
    `is_certain_throughout` whether it does at every ratio.
    """

    low: float
    high: float
    run: int
    is_certain: bool
    is_certain_throughout: bool


@dataclass(frozen=True, slots=True)
class Leads:
    """The cheapest run at ratios from 1 to 100, stretch by stretch.

    `is_open` says that no two of the leading runs differ significantly at any ratio, or if one
    leads throughout, that none of the others differs from it.
    """

    stretches: tuple[Lead, ...]
    is_open: bool


def leads(
    actual: NDArray[np.integer],
    predicted: Sequence[NDArray[np.integer]],
    costs: CostMatrix,
    lever: Lever,
    stretches: Sequence[Stretch],
    *,
    prevalence: Floats | None,
) -> Leads:
    """Judge the cheapest runs of stretches by the paired predictions of all runs.

    All arrays (n,) have class codes; `stretches` name runs by their place in `predicted`.
    """
    at = np.geomspace(LOW, HIGH, _POINTS)
    shares = _shares(actual, costs.n_classes, prevalence)
    start, end = lever.moved(costs, 0.0).weights, lever.moved(costs, 1.0).weights
    rises = end - start
    less = {
        (one, other): _significantly_less(
            shares * (start[actual, predicted[one]] - start[actual, predicted[other]]),
            shares * (rises[actual, predicted[one]] - rises[actual, predicted[other]]),
            at,
            n_pairs=math.comb(len(predicted), 2),
        )
        for one, other in combinations(range(len(predicted)), 2)
    }

    def is_less(one: int, other: int) -> NDArray[np.bool_]:
        return less[one, other][0] if one < other else less[other, one][1]

    found = []
    for stretch in stretches:
        low, high = max(stretch.low, LOW), min(stretch.high, HIGH)
        if low >= high:
            continue
        run = stretch.cheapest[0]
        others = [other for other in range(len(predicted)) if other != run]
        here = (at >= low) & (at <= high)
        if not here.any():
            here[np.abs(np.log(at / math.sqrt(low * high))).argmin()] = True
        leading = np.logical_and.reduce([is_less(run, other) for other in others])[here]
        found.append(Lead(low, high, run, bool(leading.any()), bool(leading.all())))
    runs = list(dict.fromkeys(lead.run for lead in found))
    if len(runs) == 1:
        rivals = [(runs[0], other) for other in range(len(predicted)) if other != runs[0]]
    else:
        rivals = list(combinations(runs, 2))
    differs = any(is_less(one, other).any() or is_less(other, one).any() for one, other in rivals)
    return Leads(tuple(found), not differs)


def _shares(
    actual: NDArray[np.integer], n_classes: int, prevalence: Floats | None
) -> NDArray[np.float64]:
    """The weight of each example, 1 on average."""
    if prevalence is None:
        return np.ones(len(actual))
    sizes = np.bincount(actual, minlength=n_classes)
    per_example = np.divide(
        prevalence * len(actual), sizes, out=np.zeros(n_classes), where=sizes > 0
    )
    return np.asarray(per_example[actual])


def _significantly_less(
    fixed: Floats, rising: Floats, at: Floats, *, n_pairs: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The ratios at which the first run costs significantly less than the other, or more."""
    n = len(fixed)
    mean = fixed.mean() + at * rising.mean()
    square, product, rising_square = fixed @ fixed, fixed @ rising, rising @ rising
    variance = (square + 2 * at * product + at**2 * rising_square) / n**2
    # The quantile of a chi-squared variable with two degrees of freedom.
    reach = np.sqrt(-2 * math.log(_ERROR / n_pairs) * variance.clip(min=0.0))
    return mean < -reach, mean > reach
