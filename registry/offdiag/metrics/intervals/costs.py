"""Intervals of costs: how much the cost of a run depends on the samples of the test.

The mean cost depends only on how many samples there are at each cost. A matrix has K times K
cells and often a handful of costs. Cells with the same cost may be drawn as one: the sum of
multinomial counts is multinomial. Resampling these few numbers gives the mean cost the same law
as resampling the matrix, ten to a hundred times as fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import COST_KEYS, cost_gradients, evaluate_costs
from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.bounds import (
    Bounds,
    Interval,
    Intervals,
    exact_intervals,
    flagged,
    smallest_class,
)
from offdiag.metrics.intervals.delta import DELTA, aggregate_standard_errors
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.intervals.resampling import (
    LARGEST_BOOTSTRAPPED,
    batches,
    bootstrap,
    bootstrap_name,
    generator,
    percentile_intervals_by_key,
    replicated,
    resampled_counts,
)

Counts = NDArray[np.int64]

GROUP_AXIS = 1
"""Axis of resampled counts (replicates, groups) along which costs differ."""


@dataclass(frozen=True)
class SampleCosts:
    """Groups of samples with one cost: `costs` rising, and how many samples there are of each.

    At a declared prevalence samples count by their class, so each class has groups of its own and
    `actual` names it; else it is all zeros. All arrays have shape (m,), counts are positive.
    """

    actual: Counts
    costs: Floats
    counts: Counts
    prevalence: Floats | None

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def means(self, counts: NDArray[np.int64]) -> Floats:
        """Mean cost for stacked counts (b, m), shape (b,).

        NaN where a class that is expected to occur has no samples.
        """
        amounts = counts * self.costs
        if self.prevalence is None:
            return np.asarray(amounts.sum(axis=GROUP_AXIS) / counts.sum(axis=GROUP_AXIS))
        means = np.zeros(len(counts))
        for code in np.flatnonzero(self.prevalence > 0):
            of_class = self.actual == code
            cases = counts[:, of_class].sum(axis=GROUP_AXIS)
            total = amounts[:, of_class].sum(axis=GROUP_AXIS)
            undefined = np.full(len(counts), np.nan)
            mean = np.divide(total, cases, out=undefined, where=cases > 0)
            means += self.prevalence[code] * mean
        return means

    def resampled_means(self, *, seed: int, replicates: int) -> Floats:
        """Mean cost of resamples of at least one sample, shape (replicates,)."""
        rng = generator(seed)
        means = np.empty(replicates)
        for part in batches(replicates, n_cells=len(self.counts)):
            size = part.stop - part.start
            means[part] = self.means(resampled_counts(self.counts, replicates=size, rng=rng))
        return means


def grouped(
    actual: Counts, costs: Floats, counts: Counts, *, prevalence: Floats | None
) -> SampleCosts:
    """Put samples of one class and cost together; those without any are left out."""
    occupied = counts > 0
    classes = np.zeros_like(actual) if prevalence is None else actual
    classes, costs, counts = classes[occupied], costs[occupied] + 0.0, counts[occupied]
    order = np.lexsort((costs, classes))
    classes, costs, counts = classes[order], costs[order], counts[order]
    is_first = np.ones(len(counts), np.bool_)
    is_first[1:] = (classes[1:] != classes[:-1]) | (costs[1:] != costs[:-1])
    starts = np.flatnonzero(is_first)
    sums = np.add.reduceat(counts, starts) if len(counts) else counts
    return SampleCosts(classes[starts], costs[starts], sums, prevalence)


COST_INTERVAL_KEYS = tuple(key for key in COST_KEYS if key != "best_trivial_class")
BY_COST = frozenset({"mean_cost", "total_cost"})
"""Keys whose intervals resample samples by what they cost."""


def cost_intervals(
    matrix: ConfusionMatrix,
    costs: CostMatrix,
    *,
    keys: tuple[str, ...] = COST_INTERVAL_KEYS,
    prevalence: Floats | None = None,
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> dict[str, Interval]:
    """Intervals of the costs of one matrix by key, for all but the best trivial class.

    The cells are resampled, or with more than 2,500 occupied ones the delta method is used.
    The best trivial answer is chosen again in each resample, as it is for the matrix itself;
    the delta method takes it as known. `prevalence` (K,) re-weights each resample. Total and
    mean cost are resampled by the cost of samples, so either alone is found ten to a hundred times
    as fast; the bits do not depend on which `keys` are asked for.

    Raises `InvalidInput` for a confidence outside (0, 1) or no replicates.
    """
    level = confidence_level(confidence)
    count = positive_count(replicates, field="replicates")
    if matrix.total == 0:
        return {key: Interval(None, None, bootstrap_name(count)) for key in keys}
    known = cost_values(matrix.counts, costs, prevalence)
    values = {key: known[key] for key in keys}
    if np.count_nonzero(matrix.counts) <= LARGEST_BOOTSTRAPPED:
        resampled: dict[str, Floats] = {}
        if not BY_COST.issuperset(keys):
            resampled = bootstrap(
                matrix.counts,
                lambda stack: cost_values(stack, costs, prevalence),
                seed=seed,
                replicates=count,
            )
        by_cost = sample_costs(matrix, costs, prevalence)
        means = by_cost.resampled_means(seed=seed, replicates=count)
        resampled |= {"mean_cost": means, "total_cost": means * matrix.total}
        found = percentile_intervals_by_key(
            resampled, estimates=values, confidence=level, method=bootstrap_name(count)
        )
    else:
        gradients = cost_gradients(matrix, costs, prevalence)
        errors = aggregate_standard_errors(matrix, {key: gradients[key] for key in keys})
        found = normal_intervals(values, errors, confidence=level, method=DELTA)
    smallest = smallest_class(matrix.actual)
    return {key: flagged(each, smallest, "smallest class").at() for key, each in found.items()}


def sample_costs(
    matrix: ConfusionMatrix, costs: CostMatrix, prevalence: Floats | None
) -> SampleCosts:
    """The samples of a matrix by what they cost."""
    actual, predicted = np.nonzero(matrix.counts)
    return grouped(
        actual,
        costs.weights[actual, predicted],
        matrix.counts[actual, predicted],
        prevalence=prevalence,
    )


def cost_values(
    counts: NDArray[np.int64], costs: CostMatrix, prevalence: Floats | None
) -> Mapping[str, Floats]:
    """Values of `COST_INTERVAL_KEYS` for a stack (..., K, K), NaN where undefined."""
    found = evaluate_costs(counts, costs.weights, prevalence=prevalence)
    return {key: replicated(found[key]) for key in COST_INTERVAL_KEYS}


def normal_intervals(
    values: Mapping[str, Floats], errors: Mapping[str, Floats], *, confidence: float, method: str
) -> dict[str, Intervals]:
    """value -+ z error by key; no bounds (NaN) without a finite, positive error."""
    z = normal_quantile(confidence)
    found = {}
    for key, value in values.items():
        error = errors[key]
        usable = np.isfinite(value) & np.isfinite(error) & (error > 0)
        ends = (np.where(usable, value + reach, np.nan) for reach in (-z * error, z * error))
        found[key] = exact_intervals(Bounds(*ends), method)
    return found
