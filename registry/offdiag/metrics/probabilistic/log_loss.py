"""Logarithmic loss, without hiding that it can be infinite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue, Reason
from offdiag.metrics.probabilistic.forecasts import Forecasts

CLIP = 1e-15


def log_loss(forecasts: Forecasts) -> MetricValue:
    """Mean of -ln p over the probabilities p given to the actual classes; 0 to infinity, in nats.

    One case whose actual class got probability 0 makes it infinite: then the value is
    undefined with the limit "+inf". Probabilities are used as they are, in double precision.
    """
    given = forecasts.of_actual()
    if not given.all():
        return MetricValue(None, Reason.TRUE_CLASS_GOT_ZERO.value, POSITIVE_INFINITY)
    return MetricValue(_mean_surprise(given))


def log_loss_clipped(forecasts: Forecasts) -> MetricValue:
    """Log loss after moving probabilities into [1e-15, 1 - 1e-15]; always finite.

    The bound does not depend on the type of the scores, so storing them in single precision
    does not change what a confident mistake costs.
    """
    return MetricValue(_mean_surprise(np.clip(forecasts.of_actual(), CLIP, 1 - CLIP)))


def _mean_surprise(given: NDArray[np.float64]) -> float:
    # Adding 0 turns the -0.0 of a perfect forecast into a plain zero.
    return float(-np.log(given).mean()) + 0.0
