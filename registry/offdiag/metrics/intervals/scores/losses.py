"""Intervals of the mean losses of probabilities: logarithmic loss and Brier score."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.means import mean_loss_interval
from offdiag.metrics.probabilistic.forecasts import CLASS_AXIS, Forecasts
from offdiag.metrics.probabilistic.log_loss import CLIP


def loss_intervals(forecasts: Forecasts, *, confidence: float) -> dict[str, Interval]:
    """Intervals by key, without `log_loss` where that is infinite."""
    given = forecasts.of_actual()
    clipped = np.clip(given, CLIP, 1 - CLIP)
    squares = squared_distances(forecasts)
    found = {
        "log_loss_clipped": mean_loss_interval(
            -np.log(clipped), largest=-log(CLIP), confidence=confidence
        ),
        "brier_sum": mean_loss_interval(squares, largest=2.0, confidence=confidence),
        "brier_half": mean_loss_interval(squares / 2, largest=1.0, confidence=confidence),
    }
    if given.all():
        found["log_loss"] = mean_loss_interval(-np.log(given), confidence=confidence)
    return found


def squared_distances(forecasts: Forecasts) -> NDArray[np.float64]:
    """Squared distance of each forecast from the vector that is 1 at the actual class, (n,)."""
    parts = []
    for actual, table in forecasts.blocks():
        distance = table.astype(np.float64)
        distance[np.arange(len(actual)), actual] -= 1
        parts.append(np.square(distance).sum(axis=CLASS_AXIS))
    return np.concatenate(parts)
