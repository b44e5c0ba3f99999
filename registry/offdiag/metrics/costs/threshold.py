"""The cost of each threshold on a score, the cheapest one, and how much of that is chance.

The cost of a threshold is linear in the counts it gives, so all that is needed are operating
points. The threshold that is cheapest on some samples looks cheaper there than on others, because
it was chosen for them; cross-fitting chooses it on one part of the samples and evaluates its cost
on the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.scores.operating_points import OperatingPoints

FOLDS = 5
"""The threshold is chosen on four parts out of five and evaluated on the fifth."""
SPLITS = 20
"""Random splits over which the cross-fitted cost is averaged."""

FOLD_AXIS = 0
"""Axis of dealt samples (folds, intervals between points) along which the fold changes."""

_ROUNDING = 1e-12
"""Costs that differ by less of the largest are equal: three times 0.1 is not quite 0.3."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SideCosts:
    """Costs of each kind of answer, from the view of a class that is flagged or not.

    With a declared `share`, the samples of the class and the others are weighted accordingly.
    """

    hit: float
    miss: float
    false_alarm: float
    right_rejection: float
    share: float | None = None

    def means(
        self, true_positives: Counts, false_positives: Counts, *, n_positive: int, n_negative: int
    ) -> Floats:
        """Cost per sample, (n,), for counts of flagged samples, both (n,).

        NaN if a side that is expected to occur has no samples.
        """
        found = true_positives * self.hit + (n_positive - true_positives) * self.miss
        others = (
            false_positives * self.false_alarm
            + (n_negative - false_positives) * self.right_rejection
        )
        if self.share is None:
            total = n_positive + n_negative
            return np.asarray((found + others) / (total or np.nan), dtype=np.float64)
        parts = np.zeros(len(true_positives))
        for paid, cases, share in (
            (found, n_positive, self.share),
            (others, n_negative, 1.0 - self.share),
        ):
            if share > 0:
                parts += share * paid / (cases or np.nan)
        return parts

    def cheapest(self, means: Floats) -> int:
        """Position of the lowest of these costs, (n,), the first if tied."""
        largest = max(map(abs, (self.hit, self.miss, self.false_alarm, self.right_rejection)))
        tied = np.flatnonzero(means <= np.nanmin(means) + _ROUNDING * largest)
        return int(tied[0])


def side_costs(costs: CostMatrix, positive: int, prevalence: Floats | None = None) -> SideCosts:
    """The costs of two classes as seen from class `positive`.

    Raises `InvalidInput` unless there are two classes.
    """
    costs.require_two_classes()
    negative = 1 - positive
    return SideCosts(
        hit=float(costs.weights[positive, positive]),
        miss=float(costs.weights[positive, negative]),
        false_alarm=float(costs.weights[negative, positive]),
        right_rejection=float(costs.weights[negative, negative]),
        share=None if prevalence is None else float(prevalence[positive]),
    )


def cost_at_each(points: OperatingPoints, costs: SideCosts) -> Floats:
    """Cost per sample at each operating point, (n,)."""
    return costs.means(
        points.true_positives,
        points.false_positives,
        n_positive=points.n_positive,
        n_negative=points.n_negative,
    )


def cheapest_point(points: OperatingPoints, costs: SideCosts) -> int | None:
    """Position of the cheapest point, the strictest if tied; None if no cost is defined."""
    means = cost_at_each(points, costs)
    return None if not len(means) or np.isnan(means).all() else costs.cheapest(means)


@dataclass(frozen=True, slots=True)
class Crossfitted:
    """Cost per sample of a chosen threshold on samples it was not chosen on, and its errors there.

    `missed` and `false_alarms` are numbers of samples, averaged over random splits.
    """

    mean_cost: float
    missed: float
    false_alarms: float


def crossfitted(points: OperatingPoints, costs: SideCosts, *, seed: int) -> Crossfitted | None:
    """The cost per sample of choosing the cheapest point, on samples it was not chosen on.

    The samples are dealt into `FOLDS` parts; each part is evaluated at the cheapest point of the
    other parts. The result is the mean over `SPLITS` such deals, determined by the seed. Samples
    between two neighbouring points need not be distinguished for this. None if one side has fewer
    samples than there are parts.
    """
    if min(points.n_positive, points.n_negative) < FOLDS or len(points) < 2:
        return None
    rng = np.random.Generator(np.random.PCG64(seed))
    flagged = np.empty((SPLITS, 2), dtype=np.int64)
    for split in range(SPLITS):
        hits = _dealt(np.diff(points.true_positives), rng)
        alarms = _dealt(np.diff(points.false_positives), rng)
        flagged[split] = _flagged_in_deal(hits, alarms, costs)
    means = costs.means(
        flagged[:, 0], flagged[:, 1], n_positive=points.n_positive, n_negative=points.n_negative
    )
    found, alarmed = flagged.mean(axis=FOLD_AXIS).tolist()
    return Crossfitted(float(means.mean()), points.n_positive - found, alarmed)


def matrix_at(
    points: OperatingPoints, place: int, *, positive: int, labels: LabelSet
) -> ConfusionMatrix:
    """The confusion matrix of two classes at the threshold in this position."""
    hits, alarms = int(points.true_positives[place]), int(points.false_positives[place])
    counts = np.zeros((2, 2), dtype=np.int64)
    negative = 1 - positive
    counts[positive, positive], counts[positive, negative] = hits, points.n_positive - hits
    counts[negative, positive], counts[negative, negative] = alarms, points.n_negative - alarms
    return ConfusionMatrix(counts, labels)


def _dealt(between: Counts, rng: np.random.Generator) -> Counts:
    """Deal samples between neighbouring points into equal parts at random, (FOLDS, n - 1)."""
    left = between.astype(np.int64)
    parts = np.empty((FOLDS, len(left)), dtype=np.int64)
    for fold in range(FOLDS - 1):
        size = int(left.sum()) // (FOLDS - fold)
        parts[fold] = rng.multivariate_hypergeometric(left, size, method="marginals")
        left = left - parts[fold]
    parts[-1] = left
    return parts


def _flagged_in_deal(hits: Counts, alarms: Counts, costs: SideCosts) -> tuple[int, int]:
    """Flagged positive and negative samples, each part at the cheapest point of the others."""
    all_hits, all_alarms = hits.sum(axis=FOLD_AXIS), alarms.sum(axis=FOLD_AXIS)
    flagged_hits = flagged_alarms = 0
    for own_hits, own_alarms in zip(hits, alarms, strict=True):
        true_positives = _from_the_strictest(all_hits - own_hits)
        false_positives = _from_the_strictest(all_alarms - own_alarms)
        means = costs.means(
            true_positives,
            false_positives,
            n_positive=int(true_positives[-1]),
            n_negative=int(false_positives[-1]),
        )
        place = costs.cheapest(means)
        flagged_hits += int(own_hits[:place].sum())
        flagged_alarms += int(own_alarms[:place].sum())
    return flagged_hits, flagged_alarms


def _from_the_strictest(between: Counts) -> Counts:
    """Flagged samples at each point; at the first, none."""
    return np.concatenate([[0], np.cumsum(between)]).astype(np.int64)
