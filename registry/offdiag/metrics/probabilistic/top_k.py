"""Where the actual class stands in the ranking of the scores of a case."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.probabilistic.forecasts import CLASS_AXIS, Forecasts


def rank_counts(forecasts: Forecasts) -> NDArray[np.int64]:
    """How many cases have their actual class in place 0, 1, ... K - 1; shape (K,).

    Classes with equal scores are placed by index, the lowest first, so that place 0 is what
    arg-max picks and top-1 accuracy is the accuracy of the predicted classes.
    """
    counts = np.zeros(forecasts.n_classes, dtype=np.int64)
    classes = np.arange(forecasts.n_classes)
    for actual, table in forecasts.blocks():
        codes = actual.astype(np.int64)[:, np.newaxis]
        own = np.take_along_axis(table, codes, axis=CLASS_AXIS)
        ahead = (table > own) | ((table == own) & (classes < codes))
        place = np.count_nonzero(ahead, axis=CLASS_AXIS)
        counts += np.bincount(place, minlength=forecasts.n_classes)
    return counts


def top_k_accuracy(counts: NDArray[np.int64], *, k: int) -> MetricValue:
    """Share of cases whose actual class is among the first k of the ranking; 0 to 1."""
    return MetricValue(int(counts[:k].sum()) / int(counts.sum()))
