"""Several metrics of two runs tested together, so that one level holds for all of them.

Single-step max-T (Westfall and Young 1993, Resampling-Based Multiple Testing): each metric has
the statistic T of `pooled_slopes`, and a metric differs where |T| is above c*, the quantile of
the largest |z| of normal variables that are correlated as the differences are. c* is the normal
quantile where all metrics move together and at most that of Bonferroni, 2.58 for five at 95 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import erf, isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.bounds import Bounds, Intervals
from offdiag.metrics.intervals.delta import aggregate_gradients, range_of
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.intervals.reliability import flagged, smallest_class
from offdiag.metrics.intervals.gradients import Floats
from offdiag.metrics.intervals.resampling import generator
from offdiag.metrics.paired.joint import JointCounts
from offdiag.metrics.paired.pooled_slopes import (
    METHOD,
    NOTHING_COUNTS,
    Statistic,
    moves,
    paired_statistics,
    pooled_matrix,
    unpaired_statistics,
    value_covariance,
)
from offdiag.metrics.paired.resampling import comes_before

UNLIKE_ITS_SLOPES = "the difference and what its slopes make of it have opposite signs"
DIRECTIONS = 2_000
"""Random directions over which the probability of a larger maximum is averaged."""
METRIC_AXIS = 1
"""Axis of draws along which the metric, or the independent variable behind them, changes."""
HALVINGS = 20
"""Of the range from one metric to Bonferroni, at most .7: to 1e-6."""
SMALLEST_EIGENVALUE = 1e-9
"""Share of the largest eigenvalue below which one of a correlation matrix is a rounded 0."""



@dataclass(frozen=True)
class JointTest:
    """Metrics of two runs tested together at one confidence.

    `tested` are the metrics that take part; those that are undefined, or that no sample on which
    the runs differ counts for, are left out. `covariance` is that of their differences, `smallest`
    the number of samples in the smallest class.
    """

    statistics: Mapping[str, Statistic]
    tested: tuple[str, ...]
    covariance: Floats
    smallest: NDArray[np.int64]
    confidence: float
    seed: int

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(key for key in self.statistics if key not in self.tested)

    @property
    def alone(self) -> float:
        """The critical value of a metric that is the only one looked at."""
        return normal_quantile(self.confidence)

    @cached_property
    def critical(self) -> float:
        """The critical value c* of all tested metrics together."""
        return critical_value(self.covariance, confidence=self.confidence, seed=self.seed)

    def intervals(self, key: str, *, critical: float) -> Intervals:
        """Interval of the difference that excludes 0 exactly where |T| > `critical`.

        d -+ critical |d / T|, cut at the range of differences; no ends (NaN) without a test, and
        where T is 0 but the difference is not. Fewer than 20 samples in a class are noted.
        """
        statistic = self.statistics[key]
        reach = statistic.reach(critical)
        lowest, highest = range_of(key)
        width = highest - lowest
        d, r = (np.nan, np.nan) if reach is None else (statistic.difference, reach)
        bounds = Bounds(np.asarray(max(d - r, -width)), np.asarray(min(d + r, width)))
        notes: dict[tuple[int, ...], str] = {}
        if reach is None:
            notes[()] = UNLIKE_ITS_SLOPES if key in self.tested else NOTHING_COUNTS
        found = Intervals(bounds, METHOD, np.zeros(()), notes)
        return flagged(found, self.smallest, "smallest class")


def judge_together(
    joint: JointCounts,
    differences: Mapping[str, float],
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> JointTest:
    """Test aggregates of two runs on the same samples, at least one, together.

    `differences` are second minus first by key, NaN where undefined. With the runs swapped all
    statistics change their sign and nothing else. Raises `InvalidInput` for a confidence outside
    (0, 1).
    """
    mirrored = joint.swapped()
    if comes_before(mirrored, joint):
        opposite = {key: -value for key, value in differences.items()}
        found = judge_together(mirrored, opposite, confidence=confidence, seed=seed)
        turned = {key: _negated(each) for key, each in found.statistics.items()}
        return replace(found, statistics=turned)
    gradients = aggregate_gradients(
        pooled_matrix((joint.first_matrix, joint.second_matrix)), differences
    )
    statistics = paired_statistics(joint, gradients, differences)
    tested = _tested(statistics)
    moved = moves(joint, {key: gradients[key] for key in tested})
    covariance = np.inner(moved * joint.counts, moved)
    smallest = smallest_class(joint.first_matrix.actual)
    return JointTest(statistics, tested, covariance, smallest, confidence_level(confidence), seed)


def judge_unpaired(
    first: ConfusionMatrix,
    second: ConfusionMatrix,
    differences: Mapping[str, float],
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> JointTest:
    """The same of two runs on different samples, at least one each, whose covariances add up."""
    gradients = aggregate_gradients(pooled_matrix((first, second)), differences)
    statistics = unpaired_statistics(first, second, gradients, differences)
    tested = _tested(statistics)
    taking_part = {key: gradients[key] for key in tested}
    covariance = value_covariance(first, taking_part) + value_covariance(second, taking_part)
    smallest = np.minimum(smallest_class(first.actual), smallest_class(second.actual))
    return JointTest(statistics, tested, covariance, smallest, confidence_level(confidence), seed)


def critical_value(covariance: Floats, *, confidence: float = 0.95, seed: int = 0) -> float:
    """The c with P(max |z_q| <= c) = `confidence`, z normal with the correlations of (q, q).

    z is a length times a direction; over the length, which is chi distributed, the probability
    is exact, over 2,000 random directions it is averaged. All variances are positive. Without
    any variable it is the quantile of one.
    """
    from scipy.special import gammaincc

    level = confidence_level(confidence)
    size = len(covariance)
    low = normal_quantile(level)
    if size < 2:
        return low
    high = normal_quantile(1 - (1 - level) / size)
    spread = np.sqrt(np.diagonal(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
    kept = values > SMALLEST_EIGENVALUE * values.max()
    factors = vectors[:, kept] * np.sqrt(values[kept])
    rank = int(kept.sum())
    directions = generator(seed).standard_normal((DIRECTIONS, rank))
    sizes = np.abs(np.inner(directions, factors))
    largest = sizes.max(axis=METRIC_AXIS) / np.linalg.norm(directions, axis=METRIC_AXIS)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        beyond = float(gammaincc(rank / 2, (middle / largest) ** 2 / 2).mean())
        low, high = (middle, high) if beyond > 1 - level else (low, middle)
    return high


def confidence_of(critical: float) -> float:
    """The confidence of an interval that reaches `critical` standard errors to both sides."""
    return erf(critical / sqrt(2))


def _tested(statistics: Mapping[str, Statistic]) -> tuple[str, ...]:
    return tuple(key for key, each in statistics.items() if isfinite(each.t) and each.error > 0)


def _negated(statistic: Statistic) -> Statistic:
    return Statistic(-statistic.difference, -statistic.linear, statistic.error)
