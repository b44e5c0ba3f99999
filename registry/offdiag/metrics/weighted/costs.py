"""Intervals of the costs of weighted samples, linearized.

A cost is a sum over cells, so its slopes are the costs themselves. The sum of all weights is
taken as known: weights that add up to a population give the cost of that population.
"""

from __future__ import annotations

import numpy as np

from offdiag.domain.values import MetricValue
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients, evaluate_costs
from offdiag.metrics.dual import Floats
from offdiag.metrics.intervals.bounds import Intervals, flagged, smallest_class
from offdiag.metrics.intervals.costs import COST_INTERVAL_KEYS, unbounded_normal
from offdiag.metrics.intervals.delta import aggregate_standard_errors
from offdiag.metrics.intervals.resampling import replicated
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.metrics.weighted.intervals import LINEARIZED


def weighted_costs(
    found: WeightedCounts,
    costs: CostMatrix,
    *,
    prevalence: Floats | None = None,
    confidence: float = 0.95,
) -> dict[str, MetricValue]:
    """Costs by key as `evaluate_costs` has them, of sums of weights, with their intervals.

    `prevalence` (K,) are class shares at deployment. Raises `InvalidInput` for a confidence
    outside (0, 1).
    """
    quantities = evaluate_costs(found.sums, costs.weights, prevalence=prevalence)
    values = {key: quantity.at() for key, quantity in quantities.items()}
    if found.weights.total <= 0:
        return values
    gradients = cost_gradients(found.weights, costs, prevalence)
    errors = aggregate_standard_errors(found.weights, gradients, found.weight_squares)
    smallest = smallest_class(found.class_sizes) if found.class_sizes.any() else np.asarray(0)
    for key in COST_INTERVAL_KEYS:
        bounds = unbounded_normal(replicated(quantities[key]), errors[key], confidence=confidence)
        interval = Intervals(bounds, LINEARIZED, np.zeros(()), {})
        values[key] = flagged(interval, smallest, "smallest class").at().around(values[key])
    return values
