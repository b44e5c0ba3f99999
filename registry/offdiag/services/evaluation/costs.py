"""What the errors of a run cost, with intervals: the values that are kept with its evaluation."""

from __future__ import annotations

from collections.abc import Mapping

from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.dual import Floats
from offdiag.metrics.intervals.costs import cost_intervals
from offdiag.services.evaluation.compute import INTERVAL_SEED


def price(
    matrix: ConfusionMatrix, costs: CostMatrix, *, prevalence: Floats | None = None
) -> Mapping[str, MetricValue]:
    """The costs of a matrix by key, each with its interval where it has one.

    `prevalence` (K,) are class shares at deployment. The same inputs give the same bits.
    """
    found = evaluate_costs(matrix.counts, costs.weights, prevalence=prevalence)
    intervals = cost_intervals(matrix, costs, prevalence=prevalence, seed=INTERVAL_SEED)
    values = {key: quantity.at() for key, quantity in found.items()}
    return values | {key: interval.around(values[key]) for key, interval in intervals.items()}
