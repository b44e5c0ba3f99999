"""Intervals of weighted samples from the sums of their weights and of the squares.

* Proportions take Wilson's interval of an effective size: as many equal samples as have a share
  of the same variance (Korn and Graubard 1998, Survey Methodology 24, 193; Dean and Pagano 2015,
  J. Survey Statistics and Methodology 3, 484). It is never more than the samples that there are.
* Balanced accuracy combines the Wilson ends of all recalls (MOVER).
* Everything else is drawn from the posterior of such numbers of equal samples. Where too many
  cells are occupied, what depends on single ones is linearized: the variance of the sum that a
  metric is to first order.

Of equal weights the first are the intervals of counts, exactly. No sample has to be read again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients, evaluate_costs
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.bounds import (
    Intervals,
    flagged,
    smallest_class,
    without_ends,
)
from offdiag.metrics.intervals.costs import (
    COST_INTERVAL_KEYS,
    drawn_costs,
    sample_costs,
)
from offdiag.metrics.intervals.delta import aggregate_standard_errors
from offdiag.metrics.intervals.draws import replicated
from offdiag.metrics.intervals.posterior import CLASS_SPLITS, Evidence
from offdiag.metrics.intervals.proportions import Outcomes, Proportion, wilson_of_sizes
from offdiag.metrics.intervals.suite import (
    DRAWN_AGGREGATES,
    DRAWN_PER_CLASS,
    SuiteIntervals,
    drawn_intervals,
    judged_aggregate,
    mean_recall_intervals,
)
from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.metrics.suite import Suite
from offdiag.metrics.weighted.counts import WeightedCounts, WeightSums, kish

Floats = NDArray[np.float64]

WILSON = "wilson, effective size"
WILSON_TRANSFORMED = "wilson, effective size, transformed"
MOVER = "wilson ends of effective sizes combined (MOVER)"


def weighted_suite_intervals(
    found: WeightedCounts,
    suite: Suite,
    *,
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> SuiteIntervals:
    """Intervals of all metrics of `suite`, those of the sums of weights.

    Notes are those of counts, of effective sizes of the classes. Raises `InvalidInput` for a
    confidence outside (0, 1) or no replicates.
    """
    level = confidence_level(confidence)
    draws = positive_count(replicates, field="replicates")
    aggregate = _of_proportions(found, proportions.AGGREGATE, level)
    per_class = _of_proportions(found, proportions.PER_CLASS, level)
    if found.weights.total <= 0:
        aggregate |= {key: without_ends(()) for key in DRAWN_AGGREGATES}
        per_class |= {key: without_ends((found.n_classes,)) for key in DRAWN_PER_CLASS}
        return SuiteIntervals(aggregate, per_class, level, seed, 0)
    others = drawn_intervals(
        weighted_evidence(found),
        suite,
        found.weights,
        squares=found.weight_squares,
        seed=seed,
        confidence=level,
        draws=draws,
    )
    others |= _mean_recalls(found, level)
    sizes, names = found.class_sizes, found.labels.names
    for key in DRAWN_AGGREGATES:
        aggregate[key] = judged_aggregate(others[key], key, sizes, names)
    for key in DRAWN_PER_CLASS:
        per_class[key] = flagged(others[key], sizes, "class")
    return SuiteIntervals(aggregate, per_class, level, seed, draws)


def weighted_evidence(found: WeightedCounts) -> Evidence:
    """What weighted samples say, in as many equal samples as have shares of the same variance."""
    weights, squares = found.weights.actual, found.weight_squares.actual
    total, total_squares = found.weights.total, found.weight_squares.total
    splits = {}
    for key in CLASS_SPLITS:
        share, size = _steady_proportion(found, key)
        splits[key] = share * size, (1 - share) * size
    right, missed = splits["recall"]
    of_weight = np.where(weights > 0, weights, 1.0)
    return Evidence(
        classes=found.class_effective,
        unit=np.where(weights > 0, squares / of_weight, float(total_squares / total)),
        cells=found.sums * ((right + missed) / of_weight)[:, np.newaxis],
        splits=splits,
        total=float(total),
    )


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


def _steady_proportion(found: WeightedCounts, key: str) -> tuple[Floats, Floats]:
    """A share of a class and its effective size, for a recall or a specificity at most Kish's.

    Few errors show little of how weights go with them.
    """
    share, size = effective_proportion(found, proportions.PER_CLASS[key])
    weights, squares = found.weights, found.weight_squares
    if key == "recall":
        size = np.minimum(size, found.class_effective)
    if key == "specificity":
        rest = kish(weights.total - weights.actual, squares.total - squares.actual)
        size = np.minimum(size, rest)
    return share, size


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
    share, size = _steady_proportion(found, "recall")
    ends = wilson_of_sizes(share * size, size, confidence=confidence)
    return mean_recall_intervals(share, ends, MOVER)


def weighted_costs(
    found: WeightedCounts, costs: CostMatrix, *, seed: int
) -> dict[str, MetricValue]:
    """Costs by key as `evaluate_costs` has them, of sums of weights, with 95 % intervals.

    The sum of all weights is taken as known: weights that add up to a population give the cost of
    that population.
    """
    quantities = evaluate_costs(found.sums, costs.weights)
    values = {key: quantity.at() for key, quantity in quantities.items()}
    if found.weights.total <= 0:
        return values
    estimates = {key: replicated(quantities[key]) for key in COST_INTERVAL_KEYS}
    size = effective_size_of_costs(found, costs)
    intervals = drawn_costs(
        estimates,
        weighted_evidence(found),
        costs,
        sample_costs(found.sums * (size / found.weights.total), costs, None),
        prevalence=None,
        seed=seed,
        confidence=0.95,
        draws=2_000,
    )
    smallest = smallest_class(found.class_sizes) if found.class_sizes.any() else np.asarray(0)
    for key, each in intervals.items():
        values[key] = flagged(each, smallest, "smallest class").at().around(values[key])
    return values


def effective_size_of_costs(found: WeightedCounts, costs: CostMatrix) -> float:
    """How many equal samples have a mean cost of the same variance; Kish's where it has none.

    The variance is at least that of weights which do not go with costs within a class.
    """
    weights, squares = found.weights.actual, found.weight_squares.actual
    total = float(found.weights.total)
    of_weight = np.where(weights > 0, weights, 1.0)
    of_class = (found.sums * costs.weights).sum(axis=PREDICTED_AXIS) / of_weight
    within = (found.sums * (costs.weights - of_class[:, np.newaxis]) ** 2).sum(axis=PREDICTED_AXIS)
    mean = float((weights * of_class).sum()) / total
    between = (of_class - mean) ** 2
    spread = float((within + weights * between).sum()) / total
    unrelated = (squares * (within / of_weight + between)).sum()
    error = max(float(cost_errors(found, costs)["mean_cost"]), float(np.sqrt(unrelated)) / total)
    size = spread / error / error if spread > 0 and error > 0 else found.n_effective
    return min(size, float(found.total))


def cost_errors(found: WeightedCounts, costs: CostMatrix) -> Mapping[str, Floats]:
    """Standard errors by key of costs, which are sums over cells: their slopes are the costs."""
    gradients = cost_gradients(found.weights, costs, None)
    return aggregate_standard_errors(found.weights, gradients, found.weight_squares)
