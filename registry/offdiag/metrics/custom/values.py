"""Values of declared functions of samples, with intervals from resampled samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.custom.declared import CustomMetric, MultilabelInput, ScoreInput

REPLICATES = 200
MOST_RESAMPLED = 20_000
"""Examples up to which intervals are resampled: the cost of a function is not known."""
INTERVAL = f"Percentiles of {REPLICATES} resamples of the examples; none above 20,000 examples."


def value_of_samples(
    metric: CustomMetric,
    given: Callable[[slice | NDArray[Any]], ScoreInput | MultilabelInput],
    *,
    n_samples: int,
    seed: int,
    confidence: float,
) -> MetricValue:
    """The value of all samples; `given` makes the input of some, by their places.

    The same samples and seed give the same bits, if the function does. Resamples in which it is
    undefined are left out; with a tenth of them or more there is no interval.
    """
    if n_samples == 0:
        return MetricValue(None, Reason.NO_SAMPLES.value)
    value, reason = metric.called(given(slice(None)))
    if reason is not None:
        return MetricValue(None, reason.value)
    if n_samples > MOST_RESAMPLED:
        return MetricValue(value)
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = (rng.integers(n_samples, size=n_samples) for _ in range(REPLICATES))
    found = np.array([metric.called(given(places))[0] for places in drawn])
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
