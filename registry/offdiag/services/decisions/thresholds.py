"""What each threshold of a score would cost, the cheapest one, and the one the costs imply."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.decisions import at_deployment, cost_threshold
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.threshold import (
    cheapest_point,
    cost_at_each,
    crossfitted_cost,
    matrix_at,
    side_prices,
)
from offdiag.metrics.paired.joint import joint_of_points
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.services.decisions.redeciding import Change, change_of, mean_cost
from offdiag.services.evaluation.compute import INTERVAL_SEED

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PricedPoint:
    """A threshold by its place among the points, and its cost per case with the interval.

    The interval is about the cases, the threshold being what it is.
    """

    place: int
    cost: MetricValue


@dataclass(frozen=True)
class ThresholdCosts:
    """Thresholds on the score of class `positive`, strictest first, and their costs per case.

    `best` is the cheapest, None where no cost is defined; `crossfitted` what its choice costs on
    cases it was not made on. `in_use` is the cost of the answers that were given, and
    `in_use_place` their threshold, None if no single one gives them; `change` is from those to
    the cheapest then. `implied` is the threshold above which flagging is cheaper to expect where
    the score is the probability of the class: below 0 or above 1 one answer is always cheaper,
    and None is no threshold at all.
    """

    positive: int
    points: OperatingPoints
    are_probabilities: bool
    means: Floats
    best: PricedPoint | None
    crossfitted: float | None
    in_use: MetricValue
    in_use_place: int | None
    change: Change | None
    implied: float | None
    at_implied: PricedPoint | None

    @property
    def nothing(self) -> float:
        """Cost per case of flagging nothing."""
        return float(self.means[0])

    @property
    def everything(self) -> float:
        """Cost per case of flagging everything."""
        return float(self.means[-1])

    @property
    def best_threshold(self) -> float | None:
        """The threshold from which on the cheapest choice flags, None where it flags nothing."""
        if self.best is None or self.best.place == 0:
            return None
        return float(self.points.thresholds[self.best.place])

    @property
    def has_all(self) -> bool:
        """Whether no threshold that the scores have was left out when the curve was kept."""
        return len(self.points) == self.points.n_thresholds


def threshold_costs_of(
    curve: ScoreCurve,
    matrix: ConfusionMatrix,
    costs: CostMatrix,
    *,
    prevalence: Floats | None,
) -> ThresholdCosts:
    """Price the thresholds of a curve; `matrix` is that of the answers that were given."""
    points, positive, labels = curve.points, curve.code, matrix.labels
    prices = side_prices(costs, positive, prevalence)

    def priced(place: int) -> PricedPoint:
        at = matrix_at(points, place, positive=positive, labels=labels)
        return PricedPoint(place, mean_cost(at, costs, prevalence=prevalence))

    hits = int(matrix.counts[positive, positive])
    in_use = points.of_counts(hits, int(matrix.predicted[positive]) - hits)
    cheapest = cheapest_point(points, prices)
    change = None
    if in_use is not None and cheapest is not None:
        joint = joint_of_points(points, in_use, cheapest, positive=positive, labels=labels)
        change = change_of(joint, costs, prevalence=prevalence)
    implied = implied_threshold(costs, matrix, positive, prevalence)
    is_usable = curve.bins is not None and implied is not None
    return ThresholdCosts(
        positive=positive,
        points=points,
        are_probabilities=curve.bins is not None,
        means=cost_at_each(points, prices),
        best=None if cheapest is None else priced(cheapest),
        crossfitted=crossfitted_cost(points, prices, seed=INTERVAL_SEED),
        in_use=mean_cost(matrix, costs, prevalence=prevalence),
        in_use_place=in_use,
        change=change,
        implied=implied,
        at_implied=priced(points.at(implied)) if is_usable and implied is not None else None,
    )


def implied_threshold(
    costs: CostMatrix, matrix: ConfusionMatrix, positive: int, prevalence: Floats | None
) -> float | None:
    """The probability of class `positive` above which flagging it is cheaper to expect."""
    found = cost_threshold(at_deployment(costs, matrix, prevalence))
    if found is None:
        return None
    return found if positive == 1 else 1.0 - found
