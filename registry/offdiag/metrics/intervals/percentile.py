"""Percentile intervals of resampled values, some of which may be undefined or unbounded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.quantity import Quantity

REPLICATE_AXIS = 0
"""Axis of resampled values (replicates, ...) along which the resample changes."""


def replicated(quantity: Quantity) -> NDArray[np.float64]:
    """Values with NaN where undefined, but +inf where they tend to it.

    An infinite likelihood ratio is a very large one, and dropping it would pull the upper end
    down; a 0/0 says nothing and is left out.
    """
    return np.where(quantity.to_infinity, np.inf, quantity.value)


def percentile_bounds(
    values: NDArray[np.float64], *, confidence: float
) -> tuple[Bounds, NDArray[np.float64]]:
    """Equal-tailed percentile interval, and the share of undefined replicates.

    `values` has shape (replicates, ...); NaN marks an undefined replicate, which is left out.
    Quantiles interpolate linearly (Hyndman and Fan 1996, type 7). No interval (NaN) where all
    replicates are undefined.
    """
    ordered = np.sort(values, axis=REPLICATE_AXIS)
    n_replicates = values.shape[REPLICATE_AXIS]
    n_undefined = np.isnan(ordered).sum(axis=REPLICATE_AXIS)
    n_defined = n_replicates - n_undefined
    tail = (1.0 - confidence) / 2.0
    bounds = Bounds(_quantile(ordered, n_defined, tail), _quantile(ordered, n_defined, 1.0 - tail))
    return bounds, np.asarray(n_undefined / n_replicates)


def _quantile(
    ordered: NDArray[np.float64], n_defined: NDArray[np.intp], level: float
) -> NDArray[np.float64]:
    """Quantile of the first `n_defined` values; numpy sorts infinities before NaN."""
    place = np.maximum(n_defined - 1, 0) * level
    before = np.floor(place).astype(np.intp)
    after = np.minimum(before + 1, np.maximum(n_defined - 1, 0))
    low, high = (
        np.take_along_axis(ordered, index[np.newaxis], axis=REPLICATE_AXIS)[0]
        for index in (before, after)
    )
    share = place - before
    with np.errstate(invalid="ignore"):
        between: NDArray[np.float64] = np.where(
            (share == 0) | (low == high), low, low + share * (high - low)
        )
    return between
