"""Intervals of weighted samples from the sums of their weights and of the squares.

* Proportions take Wilson's interval of an effective size: as many equal samples as have a share
  of the same variance (Korn and Graubard 1998, Survey Methodology 24, 193; Dean and Pagano 2015,
  J. Survey Statistics and Methodology 3, 484). It is never more than the samples that there are.
* Balanced accuracy combines the Wilson ends of all recalls (MOVER).
* Everything else is linearized: the variance of the sum that a metric is to first order.

Of equal weights the first are the intervals of counts, exactly. Nothing is drawn, and no sample
has to be read again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients, evaluate_costs
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.bounds import (
    Bounds,
    Intervals,
    exact_intervals,
    flagged,
    smallest_class,
)
from offdiag.metrics.intervals.class_averages import mean_recall_bounds, means_of_recall
from offdiag.metrics.intervals.costs import COST_INTERVAL_KEYS, normal_intervals
from offdiag.metrics.intervals.delta import aggregate_standard_errors
from offdiag.metrics.intervals.proportions import Outcomes, Proportion, wilson_of_sizes
from offdiag.metrics.intervals.resampling import replicated
from offdiag.metrics.intervals.suite import (
    RESAMPLED_AGGREGATES,
    RESAMPLED_PER_CLASS,
    SuiteIntervals,
    judged_aggregate,
    linearized,
)
from offdiag.metrics.suite import Suite
from offdiag.metrics.weighted.counts import WeightedCounts, WeightSums, kish

Floats = NDArray[np.float64]

WILSON = "wilson, effective size"
WILSON_TRANSFORMED = "wilson, effective size, transformed"
MOVER = "wilson ends of effective sizes combined (MOVER)"
LINEARIZED = "linearized"
LINEARIZED_LOG = "linearized, log scale"


def weighted_suite_intervals(
    found: WeightedCounts, suite: Suite, *, confidence: float = 0.95
) -> SuiteIntervals:
    """Intervals of all metrics of `suite`, those of the sums of weights.

    Notes are those of counts, of effective sizes of the classes. Raises `InvalidInput` for a
    confidence outside (0, 1).
    """
    level = confidence_level(confidence)
    aggregate = _of_proportions(found, proportions.AGGREGATE, level)
    per_class = _of_proportions(found, proportions.PER_CLASS, level)
    linear: dict[str, Intervals] = {}
    if found.weights.total > 0:
        linear = linearized(
            found.weights,
            suite,
            squares=found.weight_squares,
            confidence=level,
            methods=(LINEARIZED, LINEARIZED_LOG),
        ) | _mean_recalls(found, level)
    sizes, names = found.class_sizes, found.labels.names
    for key in RESAMPLED_AGGREGATES:
        aggregate[key] = (
            judged_aggregate(linear[key], key, sizes, names) if linear else _nothing(())
        )
    for key in RESAMPLED_PER_CLASS:
        per_class[key] = (
            flagged(linear[key], sizes, "class") if linear else _nothing((found.n_classes,))
        )
    return SuiteIntervals(aggregate, per_class, level, 0, 0)


def _nothing(shape: tuple[int, ...]) -> Intervals:
    nothing = np.full(shape, np.nan)
    return Intervals(Bounds(nothing, nothing), LINEARIZED, np.ones(shape), {})


def _of_proportions(
    found: WeightedCounts, keys: Mapping[str, Proportion], confidence: float
) -> dict[str, Intervals]:
    intervals = {}
    for key, proportion in keys.items():
        share, size = effective_proportion(found, proportion)
        bounds = wilson_of_sizes(share * size, size, confidence=confidence)
        methods = WILSON, WILSON_TRANSFORMED
        intervals[key] = proportion.interval(bounds, found.n_classes, methods)
    return intervals


def effective_proportion(found: WeightedCounts, proportion: Proportion) -> tuple[Floats, Floats]:
    """A share of the weight and its effective size; the size is 0 where nothing has weight."""
    of_counts, of_sums, of_squares = (
        _outcomes(each) for each in (found.numbers, found.weights, found.weight_squares)
    )
    hits, cases = proportion.hits(of_sums), proportion.cases(of_sums)
    share = np.clip(hits / np.where(cases > 0, cases, 1.0), 0.0, 1.0)
    size = effective_size(share, cases, proportion.hits(of_squares), proportion.cases(of_squares))
    return share, np.minimum(size, proportion.cases(of_counts))


def effective_size(share: Floats, cases: Floats, square_hits: Floats, squares: Floats) -> Floats:
    """How many equal samples have a share of the same variance; 0 without weight.

    `cases` is the weight the share is of, `squares` the sum of their squared weights and
    `square_hits` that of the hits. Kish's size where all are hits or none is.
    """
    misses = np.maximum(squares - square_hits, 0.0)
    spread = square_hits * (1 - share) ** 2 + misses * share**2
    variance = share * (1 - share)
    usable = (spread > 0) & (variance > 0)
    with np.errstate(over="ignore"):
        size = variance * cases * (cases / np.where(usable, spread, 1.0))
    return np.asarray(np.where(usable, size, kish(cases, squares)))


def _outcomes(of: WeightSums) -> Outcomes:
    return Outcomes(of.correct, of.actual, of.predicted, of.total)


def _mean_recalls(found: WeightedCounts, confidence: float) -> dict[str, Intervals]:
    """Of the mean recall of K >= 2 classes that all have weight: distances add up in squares."""
    n_classes = found.n_classes
    if n_classes < 2 or not (found.weights.actual > 0).all():
        return {}
    share, size = effective_proportion(found, proportions.PER_CLASS["recall"])
    ends = wilson_of_sizes(share * size, size, confidence=confidence)
    return means_of_recall(exact_intervals(mean_recall_bounds(share, ends), MOVER), n_classes)


def weighted_costs(found: WeightedCounts, costs: CostMatrix) -> dict[str, MetricValue]:
    """Costs by key as `evaluate_costs` has them, of sums of weights, with 95 % intervals.

    A cost is a sum over cells, so its slopes are the costs themselves. The sum of all weights is
    taken as known: weights that add up to a population give the cost of that population.
    """
    quantities = evaluate_costs(found.sums, costs.weights)
    values = {key: quantity.at() for key, quantity in quantities.items()}
    if found.weights.total <= 0:
        return values
    gradients = cost_gradients(found.weights, costs, None)
    errors = aggregate_standard_errors(found.weights, gradients, found.weight_squares)
    estimates = {key: replicated(quantities[key]) for key in COST_INTERVAL_KEYS}
    intervals = normal_intervals(estimates, errors, confidence=0.95, method=LINEARIZED)
    smallest = smallest_class(found.class_sizes) if found.class_sizes.any() else np.asarray(0)
    for key, each in intervals.items():
        values[key] = flagged(each, smallest, "smallest class").at().around(values[key])
    return values
