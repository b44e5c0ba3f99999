"""Intervals of the mean losses of probabilities: logarithmic loss and Brier score."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.means import mean_loss_interval
from offdiag.metrics.intervals.reliability import size_warning
from offdiag.metrics.probabilistic.forecasts import CLASS_AXIS, Forecasts
from offdiag.metrics.probabilistic.log_loss import CLIP


def loss_intervals(forecasts: Forecasts, *, confidence: float) -> dict[str, Interval]:
    """Intervals by key, without `log_loss` where that is infinite.

    Few cases of a class can carry most of a logarithmic loss, so it is called unreliable below
    20 cases of the smallest class that has any. Brier scores are bounded and not affected.
    """
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
    support = np.bincount(forecasts.actual)
    warning, _ = size_warning(int(support[support > 0].min()), "smallest class")
    if warning is not None:
        for key in found.keys() & {"log_loss", "log_loss_clipped"}:
            if found[key].low is not None:
                found[key] = replace(found[key], note=warning)
    return found


def squared_distances(forecasts: Forecasts) -> NDArray[np.float64]:
    """Squared distance of each forecast from the vector that is 1 at the actual class, (n,)."""
    parts = []
    for actual, table in forecasts.blocks():
        distance = table.astype(np.float64)
        distance[np.arange(len(actual)), actual] -= 1
        parts.append(np.square(distance).sum(axis=CLASS_AXIS))
    return np.concatenate(parts)
