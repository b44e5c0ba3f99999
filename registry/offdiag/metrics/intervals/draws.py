"""Random draws in batches of bounded size, and percentiles of the drawn values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.quantity import Quantity

INTERVAL_SEED = 1
"""The same seed for all runs, so that a matrix has the same intervals everywhere, bit for bit."""

CELLS_PER_BATCH = 1 << 19
"""Cells of all matrices held at a time (4 MiB), so that memory does not grow with draws."""


def generator(seed: int) -> np.random.Generator:
    """The random number generator for a seed: PCG64, the same on every machine."""
    return np.random.Generator(np.random.PCG64(seed))


def batches(draws: int, *, n_cells: int) -> Iterator[slice]:
    """Consecutive parts of 0 .. draws - 1, small enough to evaluate at once."""
    step = max(1, CELLS_PER_BATCH // n_cells)
    for start in range(0, draws, step):
        yield slice(start, min(start + step, draws))


DRAW_AXIS = 0
"""Axis of drawn values (draws, ...) along which the draw changes."""


def replicated(quantity: Quantity) -> NDArray[np.float64]:
    """Values with NaN where undefined, but +inf where the quotient tends to it.

    An infinite likelihood ratio is a very large one, and dropping it would pull the upper end
    down; 0/0 carries no information and is left out.
    """
    return np.where(quantity.to_infinity, np.inf, quantity.value)


def percentile_bounds(values: NDArray[np.float64], *, confidence: float) -> Bounds:
    """Equal-tailed percentile interval of drawn values (draws, ...).

    NaN marks a draw in which the metric is undefined; these draws are left out. Quantiles
    interpolate linearly (Hyndman and Fan 1996, type 7). No interval (NaN) if all are undefined.
    """
    ordered = np.sort(values, axis=DRAW_AXIS)
    n_defined = (~np.isnan(ordered)).sum(axis=DRAW_AXIS)
    tail = (1.0 - confidence) / 2.0
    return Bounds(_quantile(ordered, n_defined, tail), _quantile(ordered, n_defined, 1.0 - tail))


def _quantile(
    ordered: NDArray[np.float64], n_defined: NDArray[np.intp], level: float
) -> NDArray[np.float64]:
    """Quantile of the first `n_defined` values; numpy sorts infinities before NaN."""
    place = np.maximum(n_defined - 1, 0) * level
    before = np.floor(place).astype(np.intp)
    after = np.minimum(before + 1, np.maximum(n_defined - 1, 0))
    low, high = (
        np.take_along_axis(ordered, index[np.newaxis], axis=DRAW_AXIS)[0]
        for index in (before, after)
    )
    share = place - before
    with np.errstate(invalid="ignore"):
        between: NDArray[np.float64] = np.where(
            (share == 0) | (low == high), low, low + share * (high - low)
        )
    return between
