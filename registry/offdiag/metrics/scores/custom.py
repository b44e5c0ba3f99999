"""Declared functions of scores: their values, and intervals from resampled examples."""

from __future__ import annotations

import numpy as np

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.custom import CustomMetric, ScoreInput, custom_metrics
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.spec import MetricSpec, Scope

REPLICATES = 200
MOST_RESAMPLED = 20_000
"""Examples up to which intervals are resampled: the cost of a function is not known."""
_INTERVAL = f"Percentiles of {REPLICATES} resamples of the examples; none above 20,000 examples."

_METRICS = custom_metrics("scores")
SPECS: tuple[MetricSpec, ...] = tuple(
    MetricSpec(scope=Scope.PROBABILISTIC, interval=_INTERVAL, **each.facts) for each in _METRICS
)


def custom_values(
    forecasts: Forecasts, names: tuple[str, ...], *, seed: int, confidence: float = 0.95
) -> dict[str, MetricValue]:
    """Each declared metric of scores by key, with its interval.

    The same scores and seed give the same bits, if the function does. Resamples in which it is
    undefined are left out; with a tenth of them or more there is no interval.
    """
    return {
        each.key: _value(each, forecasts, names, seed=seed, confidence=confidence)
        for each in _METRICS
    }


def not_in_cells() -> dict[str, MetricValue]:
    """The same where scores are known as counts of bins alone."""
    return {each.key: MetricValue(None, Reason.FORECASTS_IN_CELLS.value) for each in _METRICS}


def _value(
    metric: CustomMetric,
    forecasts: Forecasts,
    names: tuple[str, ...],
    *,
    seed: int,
    confidence: float,
) -> MetricValue:
    n = forecasts.n_samples
    if n == 0:
        return MetricValue(None, Reason.NO_SAMPLES.value)
    actual, scores = forecasts.actual, forecasts.table
    value, reason = metric.called(ScoreInput(actual, scores, names))
    if reason is not None:
        return MetricValue(None, reason.value)
    if n > MOST_RESAMPLED:
        return MetricValue(value)
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = (rng.integers(n, size=n) for _ in range(REPLICATES))
    found = np.array([metric.called(ScoreInput(actual[i], scores[i], names))[0] for i in drawn])
    found = found[np.isfinite(found)]
    if len(found) <= 0.9 * REPLICATES:
        return MetricValue(value)
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return MetricValue(
        value,
        ci_low=float(low),
        ci_high=float(high),
        ci_method=f"row bootstrap, {REPLICATES} replicates",
    )
