"""How much the scores of two runs on the same samples differ: ranking and probabilities.

The area under the ROC curve uses DeLong's variance; averaged over several classes it uses the
same idea, the difference of the first-order contributions of each sample to the average. A
variance estimated from few samples of a class has few degrees of freedom, so the quantile is
Student's (Satterthwaite 1946): with the normal quantile, one of two equally good runs on 3
positive samples was called better in 10 % of datasets. Losses of probabilities are means over
samples, so their difference is the mean of paired differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import erfc, inf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import InvalidInput
from offdiag.extras import optional
from offdiag.metrics.arguments import confidence_level, finite_vector, zero_one
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.discrimination import (
    area_slopes,
    degrees_of_freedom,
    parts_of_mean_placement,
    placements,
    slope_variance,
    slopes_at_samples,
)
from offdiag.metrics.intervals.means import mean_interval, student_quantile
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired.class_changes import confidence_together
from offdiag.metrics.scores.discrimination import auc_averages, pairwise_wins
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.losses import loss_metrics, squared_distances

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DeLong:
    """Result of DeLong's test of two correlated areas under the ROC curve.

    `difference` is `auc_b` - `auc_a`, `standard_error` its estimated standard deviation and
    `z` their quotient, so a positive z is in favour of b. Anything undefined is None, with the
    reason.
    """

    auc_a: float | None
    auc_b: float | None
    difference: float | None
    standard_error: float | None
    z: float | None
    p: float | None
    reason: str | None

    def interval(self, confidence: float = 0.95) -> tuple[float | None, float | None]:
        """Normal interval of the difference, limited to [-1, 1]; (None, None) without z."""
        if self.z is None or self.difference is None or self.standard_error is None:
            return None, None
        reach = normal_quantile(confidence) * self.standard_error
        return max(-1.0, self.difference - reach), min(1.0, self.difference + reach)


def delong(y_true: ArrayLike, score_a: ArrayLike, score_b: ArrayLike) -> DeLong:
    """Compare the areas of two scores of the same n samples; higher scores mean positive.

    `y_true` holds 0 and 1 (or booleans), the scores any finite numbers, all of shape (n,).
    The variance of the difference has denominators m - 1 and n - 1 (DeLong, DeLong and
    Clarke-Pearson 1988, Biometrics 44, 837). `p` is two-sided. The areas are undefined
    without samples of both classes. `z` is undefined with a single sample of a class (the
    variance is 0/0), and with zero variance, as for two scores that rank the samples alike.

    Raises `InvalidInput` for unequal lengths, other labels, and scores that are not finite.
    """
    is_positive = zero_one(
        y_true, field="y_true", hint="Give 1 for the positive class and 0 for the other."
    )
    first = finite_vector(score_a, field="score_a")
    second = finite_vector(score_b, field="score_b")
    for field, scores in (("score_a", first), ("score_b", second)):
        if scores.shape != is_positive.shape:
            raise InvalidInput(
                f"its shape is {scores.shape}, that of y_true {is_positive.shape}.",
                field=field,
                hint="Give one score for each sample.",
            )
    return _delong(is_positive, first, second)[0]


def _delong(is_positive: NDArray[np.bool_], first: Floats, second: Floats) -> tuple[DeLong, float]:
    """The test, and the degrees of freedom of its variance."""
    n_positive = int(is_positive.sum())
    if n_positive == 0:
        return _no_test(Reason.NO_ACTUAL_POSITIVES if len(first) else Reason.NO_SAMPLES), inf
    if n_positive == len(is_positive):
        return _no_test(Reason.NO_ACTUAL_NEGATIVES), inf
    a, b = placements(is_positive, first), placements(is_positive, second)
    areas = a.area, b.area
    difference = b.area - a.area
    parts = parts_of_mean_placement(
        b.of_positives - a.of_positives, b.of_negatives - a.of_negatives
    )
    if parts is None:
        return DeLong(*areas, difference, None, None, None, Reason.ZERO_OVER_ZERO.value), inf
    variance = sum(parts)
    if variance == 0:
        return DeLong(*areas, difference, 0.0, None, None, Reason.ZERO_VARIANCE.value), inf
    z, error = difference / sqrt(variance), sqrt(variance)
    freedom = degrees_of_freedom(parts, (n_positive, len(first) - n_positive), variance)
    return DeLong(*areas, difference, error, z, erfc(abs(z) / sqrt(2)), None), freedom


def _no_test(reason: Reason) -> DeLong:
    return DeLong(None, None, None, None, None, None, reason.value)


MACRO_AREA = "roc_auc_ovr_macro"
DELONG = "delong, student t"
AVERAGED = "delong, averaged, student t"
FEWEST_OF_A_CLASS = 3
"""Samples of a class below which areas are not tested: two say nothing about their spread."""
LossesOfSamples = Callable[[Forecasts], Floats]


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """One metric of scores under both runs; `difference` is second minus first.

    `simultaneous` is the interval of the difference that holds together with those of the other
    metrics (Bonferroni), None if there is none. `p` is two-sided and for this metric alone,
    None if there is no test.
    """

    key: str
    first: MetricValue
    second: MetricValue
    difference: MetricValue
    simultaneous: Interval | None
    p: float | None


@dataclass(frozen=True, slots=True)
class _Levels:
    """The confidence of an interval alone, and of each of those that hold together."""

    alone: float
    together: float

    @property
    def both(self) -> tuple[float, float]:
        return self.alone, self.together


def score_differences(
    first: Forecasts, second: Forecasts, *, confidence: float = 0.95
) -> tuple[ScoreDifference, ...]:
    """Compare the scores of the same n samples in the same order.

    `roc_auc` if a class is the positive one, else `roc_auc_ovr_macro` if every class has
    a column; `log_loss` and `brier_sum` if both runs give probabilities. Without samples
    nothing is compared.
    """
    if first.n_samples == 0:
        return ()
    areas: list[Callable[[_Levels], ScoreDifference]] = []
    if first.positive is not None and second.positive == first.positive:
        areas.append(partial(_one_area, first, second, first.positive))
    elif first.has_all_columns and second.has_all_columns:
        areas.append(partial(_averaged_area, first, second))
    if first.are_probabilities and second.are_probabilities:
        areas += [partial(_loss, key, first, second) for key in _LOSSES]
    together = confidence_together(confidence_level(confidence), len(areas))
    return tuple(compare(_Levels(confidence, together)) for compare in areas)


def _one_area(
    first: Forecasts, second: Forecasts, positive: int, levels: _Levels
) -> ScoreDifference:
    is_positive = first.actual == positive
    found, freedom = _delong(
        is_positive,
        first.of_class(positive).astype(np.float64),
        second.of_class(positive).astype(np.float64),
    )
    if found.difference is None:
        nothing = MetricValue(None, found.reason)
        return ScoreDifference("roc_auc", nothing, nothing, nothing, None, None)
    n_positive = int(is_positive.sum())
    smaller = min(n_positive, first.n_samples - n_positive)
    error = 0.0 if smaller < FEWEST_OF_A_CLASS else found.standard_error or 0.0
    return _of_areas(
        "roc_auc",
        (MetricValue(found.auc_a), MetricValue(found.auc_b)),
        MetricValue(found.difference, ci_method=DELONG),
        (error, freedom),
        levels,
    )


def _of_areas(
    key: str,
    values: tuple[MetricValue, MetricValue],
    gap: MetricValue,
    spread: tuple[float, float],
    levels: _Levels,
) -> ScoreDifference:
    """The difference of two areas by its standard error and degrees of freedom.

    There is no test if the error is 0.
    """
    error, freedom = spread
    if gap.value is None or error <= 0:
        return ScoreDifference(key, *values, gap, None, None)
    difference, method = gap.value, gap.ci_method or DELONG
    alone, simultaneous = (
        Interval(max(-1.0, difference - reach), min(1.0, difference + reach), method)
        for reach in (student_quantile(each, freedom=freedom) * error for each in levels.both)
    )
    p = _two_sided(difference / error, freedom)
    return ScoreDifference(key, *values, alone.around(gap), simultaneous, p)


def _two_sided(t: float, freedom: float) -> float:
    with optional:
        from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


def _averaged_area(first: Forecasts, second: Forecasts, levels: _Levels) -> ScoreDifference:
    wins = [pairwise_wins(each) for each in (first, second)]
    before, after = (auc_averages(each)[MACRO_AREA] for each in wins)
    if before.value is None or after.value is None:
        return _undefined(MACRO_AREA, before, after)
    gap = MetricValue(after.value - before.value, ci_method=AVERAGED)
    if int(wins[0].support.min()) < FEWEST_OF_A_CLASS:
        return ScoreDifference(MACRO_AREA, before, after, gap, None, None)
    at_first, at_second = (
        slopes_at_samples(each, {MACRO_AREA: area_slopes(won)[MACRO_AREA]})
        for each, won in zip((first, second), wins, strict=True)
    )
    moves = at_second[MACRO_AREA] - at_first[MACRO_AREA]
    variance, freedom = slope_variance(moves, first.actual, first.n_classes)
    return _of_areas(MACRO_AREA, (before, after), gap, (sqrt(variance), freedom), levels)


def _log_losses(forecasts: Forecasts) -> Floats:
    """Loss of each sample, (n,); every actual class has a positive probability."""
    return -np.log(forecasts.of_actual())


_LOSSES: dict[str, LossesOfSamples] = {
    "log_loss": _log_losses,
    "brier_sum": squared_distances,
}


def _loss(key: str, first: Forecasts, second: Forecasts, levels: _Levels) -> ScoreDifference:
    """The difference of mean losses as the mean of paired differences, with Student's t."""
    of_samples = _LOSSES[key]
    before, after = loss_metrics(first)[key], loss_metrics(second)[key]
    if before.value is None or after.value is None:
        return _undefined(key, before, after)
    moves = of_samples(second) - of_samples(first)
    alone, simultaneous = (
        mean_interval(moves, low=-inf, high=inf, confidence=each) for each in levels.both
    )
    gap = alone.around(MetricValue(float(moves.mean())))
    p = None if alone.low is None else _student_p(moves)
    return ScoreDifference(key, before, after, gap, _if_any(simultaneous), p)


def _if_any(interval: Interval) -> Interval | None:
    return None if interval.low is None else interval


def _student_p(moves: Floats) -> float:
    n_samples = len(moves)
    t = float(moves.mean()) / (float(moves.std(ddof=1)) / sqrt(n_samples))
    return _two_sided(t, n_samples - 1)


def _undefined(key: str, first: MetricValue, second: MetricValue) -> ScoreDifference:
    reason = first.reason or second.reason
    return ScoreDifference(key, first, second, MetricValue(None, reason), None, None)
