"""One test of "no difference" for every smooth metric, for one metric or for several together.

The slope of a metric is what one more sample of actual class y contributes when it is predicted
as a, at the matrix of all compared runs together. A sample that both runs predict alike then adds
nothing, and under "no difference" the others are as likely to favour one run as the
other: the variance of the sum of their moves is the sum of their squares, not centred. It is the
variance of the test that swaps the predictions of random samples, and for accuracy the statistic
is (c - b)/sqrt(b + c), the root of McNemar's chi-square (1947, Psychometrika 12, 153).

A bootstrap of a class with 20 samples underestimates the spread just where all of its few
discordant samples point one way; this does not.

Several metrics are tested together, so that one level holds for all of them, by single-step
max-T (Westfall and Young 1993, Resampling-Based Multiple Testing): a metric differs if the |T|
above is larger than c*, the quantile of the largest |z| of normal variables that are correlated
in the same way as the differences. c* is the normal quantile if all metrics move together and at
most that of Bonferroni, 2.58 for five at 95 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import erf, isfinite, sqrt
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.gradients import Floats, Gradient
from offdiag.metrics.intervals.bounds import (
    Bounds,
    Intervals,
    flagged,
    smallest_class,
)
from offdiag.metrics.intervals.delta import (
    NO_OWN_ERRORS,
    SidedErrors,
    aggregate_gradients,
    errors_of_moves,
    range_of,
    standard_error,
)
from offdiag.metrics.intervals.draws import INTERVAL_SEED, generator
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired.joint_counts import JointCounts
from offdiag.metrics.paired.resampling import comes_before
from offdiag.metrics.paired.unseen_hits import with_unseen_hits

METHOD = "normal, pooled slopes"
"""Method name: the difference -+ a quantile x its standard error under "no difference"."""
NOTHING_COUNTS = "no sample on which the runs differ counts"
ROUNDING = 1e-12
"""Spreads below this share of their slopes are zeros blurred by rounding."""


def pooled_matrix(matrices: Sequence[ConfusionMatrix]) -> ConfusionMatrix:
    """The matrix of all runs together, at which slopes are evaluated, from at least one matrix.

    `aggregate_gradients` and `cost_gradients` of it are the slopes.
    """
    counts = np.zeros_like(matrices[0].counts)
    for matrix in matrices:
        counts += matrix.counts
    return ConfusionMatrix(counts, matrices[0].labels)


@dataclass(frozen=True, slots=True)
class Statistic:
    """How far a metric of the second run is from that of the first, in standard errors.

    `difference` is second minus first, NaN where undefined; `linear` is its approximation by the
    slopes, `error` the standard error of `linear` under "no difference". `own_error` is that of
    `difference` by the slopes of each run at its own matrix, towards 0, and `far_error` away from
    0; they are used where they are larger.
    """

    difference: float
    linear: float
    error: float
    own_error: float = 0.0
    far_error: float = 0.0

    @property
    def t(self) -> float:
        """T, see `smaller_statistic`."""
        return float(smaller_statistic(self.difference, self.linear, self.error, self.own_error))

    @property
    def larger_error(self) -> float:
        return float(np.fmax(self.error, self.own_error))

    def reach(self, critical: float) -> float | None:
        """Half the length of the interval of the difference that decides |T| > `critical`.

        `critical` errors where `difference` decides, longer where `linear` does, and at least up
        to 0 if their signs differ. None if undefined or without error.
        """
        t = self.t
        if not isfinite(t) or self.error == 0:
            return None
        if t:
            return critical * abs(self.difference / t)
        return max(abs(self.difference), critical * self.larger_error)

    def ends(self, critical: float) -> tuple[float, float] | None:
        """The ends of that interval, away from 0 at least `critical` times `far_error`."""
        near = self.reach(critical)
        if near is None:
            return None
        far = float(np.fmax(near, critical * self.far_error))
        below, above = (near, far) if self.difference > 0 else (far, near)
        return self.difference - below, self.difference + above


def smaller_statistic(
    difference: Floats | float,
    linear: Floats | float,
    error: Floats | float,
    own_error: Floats | float = 0.0,
) -> Floats:
    """T = difference / (larger error) or linear / error, whichever is nearer to 0; they broadcast.

    0 if their signs differ or `error` is 0, NaN if one of the first three is. With fewer
    than five samples in a class the metric is far from its linear part and either alone claims
    too much. Slopes at the matrix of both runs understate how chance moves a run that predicts a
    rare class seldom beside one that predicts it often: 95 % intervals of the MCC covered 40 %.
    """
    metric, sloped, spread, own = np.broadcast_arrays(
        *map(np.asarray, (difference, linear, error, own_error))
    )
    agree = (np.sign(metric) == np.sign(sloped)) & (spread > 0)
    by_metric = np.divide(metric, np.fmax(spread, own), out=np.zeros(spread.shape), where=agree)
    by_slopes = np.divide(sloped, spread, out=np.zeros(spread.shape), where=agree)
    found: Floats = np.where(np.abs(by_metric) < np.abs(by_slopes), by_metric, by_slopes)
    found[np.isnan(metric) | np.isnan(sloped) | np.isnan(spread)] = np.nan
    return found


def moved_values(before: Floats, after: Floats) -> Floats:
    """The change of values from the first run to the second; mere rounding counts as 0."""
    size = np.abs(before) + np.abs(after)
    return np.where(np.abs(after - before) <= ROUNDING * size, 0.0, after - before)


def statistics_of(
    differences: Mapping[str, float],
    keys: Iterable[str],
    linear: Floats,
    errors: Floats,
    own_errors: Mapping[str, SidedErrors] = MappingProxyType({}),
) -> dict[str, Statistic]:
    """The statistic of each key; the linear parts and errors are in the order of the keys."""
    found = {}
    for key, sloped, spread in zip(keys, linear, errors, strict=True):
        own = own_errors.get(key, NO_OWN_ERRORS).around(np.asarray(differences[key]))
        found[key] = Statistic(differences[key], float(sloped), float(spread), *map(float, own))
    return found


def own_moves(
    codes: Sequence[NDArray[np.integer[Any]]],
    first: Mapping[str, Gradient],
    second: Mapping[str, Gradient],
) -> dict[str, Floats]:
    """How far samples given by `codes` (actual, first, second, (m,) each) move each difference.

    A sample that the first run puts into cell c and the second into cell d moves it by the slope
    of the second run's metric at d minus that of the first run's at c.
    """
    actual, before, after = codes
    with np.errstate(invalid="ignore"):
        return {
            key: second[key].at(actual, after) - first[key].at(actual, before) for key in first
        }


def sided_differences(
    joint: JointCounts, first: Mapping[str, Gradient], second: Mapping[str, Gradient]
) -> dict[str, SidedErrors]:
    """Errors of differences from the gradients of both runs, shape ()."""
    shares = joint.counts / joint.total
    return {
        key: errors_of_moves(moved, shares, 1 / joint.total)
        for key, moved in own_moves(_codes(joint), first, second).items()
    }


def difference_errors(
    joint: JointCounts, first: Mapping[str, Gradient], second: Mapping[str, Gradient]
) -> dict[str, Floats]:
    """The errors as if nothing were skewed, by key, shape ()."""
    shares = joint.counts / joint.total
    return {
        key: standard_error(moved, shares, n_samples=joint.total)
        for key, moved in own_moves(_codes(joint), first, second).items()
    }


def _codes(joint: JointCounts) -> tuple[NDArray[np.int64], ...]:
    return joint.actual, joint.first, joint.second


def moves(joint: JointCounts, gradients: Mapping[str, Gradient]) -> Floats:
    """How far one sample of each triple moves each metric from the first run to the second.

    Shape (number of gradients, number of triples); the covariance of the sums is
    `np.inner(moves * counts, moves)`. Moves that are mere rounding are 0.
    """
    found = np.empty((len(gradients), len(joint.counts)))
    with np.errstate(invalid="ignore"):
        for row, gradient in zip(found, gradients.values(), strict=True):
            before = gradient.at(joint.actual, joint.first)
            row[:] = moved_values(before, gradient.at(joint.actual, joint.second))
    return found / joint.total


def paired_statistics(
    joint: JointCounts,
    gradients: Mapping[str, Gradient],
    differences: Mapping[str, float],
    own_errors: Mapping[str, SidedErrors] = MappingProxyType({}),
) -> dict[str, Statistic]:
    """The statistic of each metric of two runs on the same samples, at least one.

    `gradients` belong to the pooled matrix, `differences` are second minus first by the same
    keys, NaN where undefined; `own_errors` are what `with_unseen_hits` returns.
    """
    moved = moves(joint, gradients)
    with np.errstate(invalid="ignore"):
        # Not a matrix product, whose last bits depend on which other metrics are in it.
        linear = np.einsum("qc,c->q", moved, joint.counts)
        error = np.sqrt(np.einsum("qc,c->q", moved**2, joint.counts))
    return statistics_of(differences, gradients, linear, error, own_errors)


DIRECTIONS = 2_000
"""Random directions over which the probability of a larger maximum is averaged."""
METRIC_AXIS = 1
"""Axis of draws along which the metric, or the independent variable behind it, changes."""
HALVINGS = 20
"""Bisections of the range from one metric to Bonferroni, at most .7: precise to 1e-6."""
SMALLEST_EIGENVALUE = 1e-9
"""Eigenvalues of a correlation below this share of the largest are zeros blurred by rounding."""


@dataclass(frozen=True)
class JointTest:
    """Metrics of two runs tested together at one confidence.

    `tested` are the metrics that take part; metrics that are undefined, or that are affected by no
    sample on which the runs differ, are left out. `covariance` is that of their differences,
    `smallest` the number of samples in the smallest class.
    """

    statistics: Mapping[str, Statistic]
    tested: tuple[str, ...]
    covariance: Floats
    smallest: NDArray[np.int64]
    confidence: float

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(key for key in self.statistics if key not in self.tested)

    @property
    def alone(self) -> float:
        """The critical value for a metric that is tested alone."""
        return normal_quantile(self.confidence)

    @cached_property
    def critical(self) -> float:
        """The critical value c* of all tested metrics together."""
        return critical_value(self.covariance, confidence=self.confidence)

    def intervals(self, key: str, *, critical: float) -> Intervals:
        """Interval of the difference that excludes 0 exactly where |T| > `critical`.

        d -+ critical |d / T|, away from 0 perhaps longer, limited to the range of differences; no
        ends (NaN) without a test. Fewer than 20 samples in a class are noted.
        """
        ends = self.statistics[key].ends(critical)
        lowest, highest = range_of(key)
        width = highest - lowest
        low, high = (np.nan, np.nan) if ends is None else ends
        bounds = Bounds(np.asarray(max(low, -width)), np.asarray(min(high, width)))
        notes: dict[tuple[int, ...], str] = {} if ends is not None else {(): NOTHING_COUNTS}
        found = Intervals(bounds, METHOD, notes)
        return flagged(found, self.smallest, "smallest class")


def judge_together(
    joint: JointCounts,
    differences: Mapping[str, float],
    *,
    confidence: float = 0.95,
) -> JointTest:
    """Test aggregates of two runs on the same samples, at least one, together.

    `differences` are second minus first by key, NaN where undefined. Swapping the runs changes
    the sign of all statistics and nothing else. Raises `InvalidInput` for a confidence outside
    (0, 1).
    """
    mirrored = joint.swapped()
    if comes_before(mirrored, joint):
        opposite = {key: -value for key, value in differences.items()}
        found = judge_together(mirrored, opposite, confidence=confidence)
        turned = {key: _negated(each) for key, each in found.statistics.items()}
        return replace(found, statistics=turned)
    matrices = joint.first_matrix, joint.second_matrix
    gradients = aggregate_gradients(pooled_matrix(matrices), differences, n_runs=2)
    first, second = (aggregate_gradients(matrix, gradients) for matrix in matrices)
    own_errors = with_unseen_hits(
        sided_differences(joint, first, second),
        matrices,
        (first, second),
        (joint.hits.cases, joint.hits.cases),
        joint.hits.agree,
    )
    statistics = paired_statistics(joint, gradients, differences, own_errors)
    tested = tested_statistics(statistics)
    moved = moves(joint, {key: gradients[key] for key in tested})
    covariance = np.inner(moved * joint.counts, moved)
    smallest = smallest_class(joint.first_matrix.actual)
    return JointTest(statistics, tested, covariance, smallest, confidence_level(confidence))


def critical_value(covariance: Floats, *, confidence: float = 0.95) -> float:
    """The c with P(max |z_q| <= c) = `confidence`, z normal with the correlations of (q, q).

    z is a length times a direction; the probability is exact over the length, which is chi
    distributed, and averaged over 2,000 random directions. All variances are positive. Without
    any variable it is the quantile for one.
    """
    with optional:
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
    directions = generator(INTERVAL_SEED).standard_normal((DIRECTIONS, rank))
    sizes = np.abs(np.inner(directions, factors))
    largest = sizes.max(axis=METRIC_AXIS) / np.linalg.norm(directions, axis=METRIC_AXIS)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        beyond = float(gammaincc(rank / 2, (middle / largest) ** 2 / 2).mean())
        low, high = (middle, high) if beyond > 1 - level else (low, middle)
    return high


def confidence_of(critical: float) -> float:
    """The confidence of an interval that extends `critical` standard errors to both sides."""
    return erf(critical / sqrt(2))


def tested_statistics(statistics: Mapping[str, Statistic]) -> tuple[str, ...]:
    """The metrics that can be tested: defined, and with an error."""
    return tuple(key for key, each in statistics.items() if isfinite(each.t) and each.error > 0)


def _negated(statistic: Statistic) -> Statistic:
    return replace(statistic, difference=-statistic.difference, linear=-statistic.linear)
