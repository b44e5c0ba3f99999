"""Methods: groups of runs that differ only by seed or fold, to account for chance in training.

A method's value is the mean over its runs. With several seeds on the same samples its variance
has two components. The spread s over m seeds gives s^2 / m, as in a one-way layout with random
effects. The choice of samples also moves all seeds alike, which does not show in that spread and
does not shrink with more seeds: it is the covariance of two runs of the method by their slopes at
each sample,

    shared = (m V - D) / (m - 1),

V being the variance of the mean by samples and D that of a single run. The mean has the variance
s^2 / m + shared and, by Satterthwaite (1946, Biometrics Bulletin 2, 110), the degrees of freedom
(m - 1) (1 + shared m / s^2)^2. The difference of two methods adds the spreads, and of the shared
components only what the two do not have in common. Drawing runs and samples with replacement
instead is too narrow for the few seeds that people have: it captures (m - 1) / m of the spread.

The folds of a cross-validation share training data, so their values are not independent;
the corrected resampled t test (Nadeau and Bengio 2003, Machine Learning 52, 239) uses
(1 / J + test / train) s^2 as the variance of the mean of J folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np

from offdiag.extras import optional
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.gradients import Floats, Gradient
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.intervals.means import student_quantile
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.many_runs.run_spread import LAST_AXIS

SEEDS = "t over seeds and samples (Satterthwaite)"
FOLDS = "corrected resampled t over folds (Nadeau and Bengio)"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, or a difference of two, with its variance and degrees of freedom.

    `from_training` is the part of the variance that comes from seeds or folds.
    """

    value: float
    variance: float
    freedom: float
    from_training: float

    def ends(self, confidence: float = 0.95, *, n_compared: int = 1) -> tuple[float, float] | None:
        """The t interval, simultaneous with others by Bonferroni; None without a variance."""
        if not self.variance > 0 or not isfinite(self.variance):
            return None
        level = 1 - (1 - confidence_level(confidence)) / n_compared
        reach = student_quantile(level, freedom=self.freedom) * sqrt(self.variance)
        return self.value - reach, self.value + reach

    def p(self, *, n_compared: int = 1) -> float | None:
        """Two-sided p of a difference of 0, adjusted by Bonferroni; None without a variance."""
        if not self.variance > 0 or not isfinite(self.variance):
            return None
        with optional:
            from scipy.special import stdtr

        alone = 2 * float(stdtr(self.freedom, -abs(self.value) / sqrt(self.variance)))
        return min(1.0, n_compared * alone)


@dataclass(frozen=True)
class Moments:
    """How the choice of samples moves M methods on the same samples.

    `covariance` (M, M) is that of the means over the runs of each method, `single` (M,) the mean
    variance of one run.
    """

    covariance: Floats
    single: Floats

    def shared(self, method: int, n_runs: int) -> float:
        """The covariance of two runs of a method; with a single run, its variance."""
        of_mean = float(self.covariance[method, method])
        if n_runs < 2:
            return of_mean
        return max(0.0, (n_runs * of_mean - float(self.single[method])) / (n_runs - 1))


def moments_of(runs: PairedRuns, method_of: Sequence[int], key: str) -> Moments | None:
    """Moments from the slopes of an aggregate metric at the matrix of each run.

    `method_of` (m,) has the position of each run's method, from 0 without gaps. None for a
    metric without a gradient, or if the gradient is undefined for one of the runs.
    """
    gradients: list[Gradient] = []
    for matrix in runs.matrices:
        gradient = aggregate_gradients(matrix, [key]).get(key)
        if gradient is None or not isfinite(gradient.value):
            return None
        gradients.append(gradient)
    return moments_of_covariance(runs.own_covariance(gradients), method_of)


def moments_of_covariance(covariance: Floats, method_of: Sequence[int]) -> Moments | None:
    """Moments from the covariance (m, m) of all runs; None if it is not finite."""
    if not np.isfinite(covariance).all():
        return None
    membership = np.asarray(method_of, np.intp)
    average = np.zeros((int(membership.max()) + 1, len(membership)))
    average[membership, np.arange(len(membership))] = 1.0
    average /= average.sum(axis=LAST_AXIS, keepdims=True)
    return Moments(np.inner(average @ covariance, average), average @ np.diagonal(covariance))


def mean_of_seeds(values: Sequence[float], shared: float) -> Estimate:
    """The mean over seeds on the same samples; without a variance for a single seed."""
    found = np.asarray(values, float)
    if len(found) < 2:
        return Estimate(float(found.mean()), inf, 1.0, inf)
    from_seeds = _variance(found) / len(found)
    return _sum(float(found.mean()), [(from_seeds, len(found) - 1)], shared)


def difference_of_methods(
    first: Sequence[float],
    second: Sequence[float],
    *,
    shared: tuple[float, float],
    in_common: float,
) -> Estimate:
    """Mean of the first minus that of the second; `in_common` is the covariance of the two."""
    parts = []
    for values in (np.asarray(first, float), np.asarray(second, float)):
        if len(values) < 2:
            return Estimate(float(np.mean(first) - np.mean(second)), inf, 1.0, inf)
        parts.append((_variance(values) / len(values), len(values) - 1))
    by_samples = max(0.0, sum(shared) - 2 * in_common)
    return _sum(float(np.mean(first) - np.mean(second)), parts, by_samples)


def mean_of_folds(values: Sequence[float], test_per_train: float) -> Estimate:
    """The mean over folds, or of differences on the same folds.

    `test_per_train` is the size of a test fold divided by that of its training set, such as
    1 / (k - 1) for k folds.
    """
    found = np.asarray(values, float)
    if len(found) < 2:
        return Estimate(float(found.mean()), inf, 1.0, inf)
    variance = (1 / len(found) + test_per_train) * _variance(found)
    return Estimate(float(found.mean()), variance, len(found) - 1, variance)


def differences(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """First minus second in each fold, set equal if only rounding distinguishes them.

    Otherwise the variance would be that of rounding, and any difference would be significant.
    """
    values = np.asarray([first, second], float)
    apart = values[0] - values[1]
    if np.ptp(apart) <= 8 * np.finfo(float).eps * np.abs(values).max():
        apart[:] = apart[0]
    return [float(each) for each in apart]


def _variance(values: Floats) -> float:
    """The sample variance; exactly 0 for equal values, whose mean may be rounded."""
    return float(values.var(ddof=1)) if np.ptp(values) > 0 else 0.0


def _sum(value: float, parts: Sequence[tuple[float, int]], by_samples: float) -> Estimate:
    """Add up the components of a variance; the one from samples counts as known exactly."""
    from_training = sum(part for part, _ in parts)
    total = from_training + by_samples
    spread = sum(part**2 / freedom for part, freedom in parts)
    freedom = total**2 / spread if spread > 0 else inf
    return Estimate(value, total, freedom, from_training)
