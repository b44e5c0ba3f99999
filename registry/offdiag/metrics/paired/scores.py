"""How much the scores of two runs of the same cases differ: ranking and probabilities.

The area under the ROC curve takes DeLong's test; averaged over several classes it takes the
same idea, the difference of what each case adds to the average to first order. Losses of
probabilities are means of cases, so their difference is the mean of paired differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import erfc, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.means import mean_interval
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.intervals.scores.averaged_areas import (
    area_slopes,
    slope_variance,
    slopes_at_cases,
)
from offdiag.metrics.intervals.scores.losses import squared_distances
from offdiag.metrics.paired.class_changes import confidence_together
from offdiag.metrics.paired.delong import delong
from offdiag.metrics.probabilistic.brier import brier_scores
from offdiag.metrics.probabilistic.forecasts import Forecasts
from offdiag.metrics.probabilistic.log_loss import log_loss
from offdiag.metrics.probabilistic.multiclass_auc import auc_averages, pairwise_wins

MACRO_AREA = "roc_auc_ovr_macro"
DELONG = "delong"
AVERAGED = "delong, averaged"

Floats = NDArray[np.float64]
Loss = Callable[[Forecasts], MetricValue]
LossesOfCases = Callable[[Forecasts], Floats]


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """One metric of scores under both runs; `difference` is second minus first.

    `simultaneous` is the interval of the difference that holds together with those of the other
    metrics (Bonferroni), None where there is none. `p` is two-sided and of this metric alone,
    None where there is no test.
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
    """Compare the scores of the same n cases in the same order.

    `roc_auc` where a class is the positive one, else `roc_auc_ovr_macro` where every class has
    a column; `log_loss` and `brier_sum` where both runs give probabilities. Without cases
    nothing is compared. Raises `InvalidInput` if the cases differ.
    """
    if not np.array_equal(first.actual, second.actual):
        raise InvalidInput(
            "the two sets of scores belong to different cases.",
            field="scores",
            hint="Give scores of the same cases in the same order.",
        )
    if first.n_cases == 0:
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
    found = delong(
        first.actual == positive,
        first.of_class(positive).astype(np.float64),
        second.of_class(positive).astype(np.float64),
    )
    if found.difference is None:
        nothing = MetricValue(None, found.reason)
        return ScoreDifference("roc_auc", nothing, nothing, nothing, None, None)
    alone, simultaneous = (Interval(*found.interval(each), DELONG) for each in levels.both)
    return ScoreDifference(
        "roc_auc",
        MetricValue(found.auc_a),
        MetricValue(found.auc_b),
        alone.around(MetricValue(found.difference)),
        _if_any(simultaneous),
        found.p,
    )


def _averaged_area(first: Forecasts, second: Forecasts, levels: _Levels) -> ScoreDifference:
    wins = [pairwise_wins(each.actual, each.scores) for each in (first, second)]
    before, after = (auc_averages(each)[MACRO_AREA] for each in wins)
    if before.value is None or after.value is None:
        return _undefined(MACRO_AREA, before, after)
    gap = MetricValue(after.value - before.value, ci_method=AVERAGED)
    if int(wins[0].support.min()) < 2:
        return ScoreDifference(MACRO_AREA, before, after, gap, None, None)
    at_first, at_second = (
        slopes_at_cases(each.actual, each.scores, {MACRO_AREA: area_slopes(won)[MACRO_AREA]})
        for each, won in zip((first, second), wins, strict=True)
    )
    moves = at_second[MACRO_AREA] - at_first[MACRO_AREA]
    variance = slope_variance(moves, first.actual, first.n_classes)
    if variance <= 0:
        return ScoreDifference(MACRO_AREA, before, after, gap, None, None)
    error, difference = sqrt(variance), after.value - before.value
    alone, simultaneous = (
        Interval(max(-1.0, difference - reach), min(1.0, difference + reach), AVERAGED)
        for reach in (normal_quantile(each) * error for each in levels.both)
    )
    return ScoreDifference(
        MACRO_AREA,
        before,
        after,
        alone.around(gap),
        simultaneous,
        erfc(abs(difference) / error / sqrt(2)),
    )


def _log_losses(forecasts: Forecasts) -> Floats:
    """Loss of each case, (n,); every actual class has a positive probability."""
    return -np.log(forecasts.of_actual())


_LOSSES: dict[str, tuple[Loss, LossesOfCases]] = {
    "log_loss": (log_loss, _log_losses),
    "brier_sum": (lambda forecasts: brier_scores(forecasts)["brier_sum"], squared_distances),
}


def _loss(key: str, first: Forecasts, second: Forecasts, levels: _Levels) -> ScoreDifference:
    """The mean of the differences of all cases, with Student's t."""
    mean, of_cases = _LOSSES[key]
    before, after = mean(first), mean(second)
    if before.value is None or after.value is None:
        return _undefined(key, before, after)
    moves = of_cases(second) - of_cases(first)
    alone, simultaneous = (
        mean_interval(moves, low=-inf, high=inf, confidence=each) for each in levels.both
    )
    gap = alone.around(MetricValue(float(moves.mean())))
    p = None if alone.low is None else _student_p(moves)
    return ScoreDifference(key, before, after, gap, _if_any(simultaneous), p)


def _if_any(interval: Interval) -> Interval | None:
    return None if interval.low is None else interval


def _student_p(moves: Floats) -> float:
    from scipy.special import stdtr

    n_cases = len(moves)
    t = float(moves.mean()) / (float(moves.std(ddof=1)) / sqrt(n_cases))
    return float(2 * stdtr(n_cases - 1, -abs(t)))


def _undefined(key: str, first: MetricValue, second: MetricValue) -> ScoreDifference:
    reason = first.reason or second.reason
    return ScoreDifference(key, first, second, MetricValue(None, reason), None, None)
