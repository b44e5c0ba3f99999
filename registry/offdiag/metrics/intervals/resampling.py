"""Resampling and its intervals: draws of the cells and percentiles.

Drawing N of N samples with replacement puts each draw into cell (i, j) with probability
c_ij / N, independently, so the resampled matrix is Multinomial(N, C / N) exactly. A replicate
therefore costs as much as there are occupied cells, however many samples there are. This holds
for every statistic of the counts; it does not for statistics of scores, for fractional weights,
or for samples that come in clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Bounds, Intervals
from offdiag.metrics.quantity import Quantity

CELL_AXIS = 1
"""Axis of resampled counts (b, m) along which the cell changes."""
CELLS_PER_BATCH = 1 << 19
"""Cells of all matrices held at a time (4 MiB), so that memory does not grow with replicates."""


def generator(seed: int) -> np.random.Generator:
    """The random numbers that belong to a seed: PCG64, the same on every machine."""
    return np.random.Generator(np.random.PCG64(seed))


def batches(replicates: int, *, n_cells: int) -> Iterator[slice]:
    """Consecutive parts of 0 .. replicates - 1, small enough to evaluate at once."""
    step = max(1, CELLS_PER_BATCH // n_cells)
    for start in range(0, replicates, step):
        yield slice(start, min(start + step, replicates))


def resampled_counts(
    counts: NDArray[np.int64], *, replicates: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Counts of resamples of the same size, shape (replicates, m) for `counts` of shape (m,).

    All counts must be positive. They are drawn from the rarest to the commonest: the
    generator divides each probability by what the earlier ones left, and that stays accurate
    only while little is gone.
    """
    order = np.argsort(counts, kind="stable")
    ascending = counts[order]
    total = int(counts.sum())
    drawn = np.empty((replicates, len(counts)), np.int64)
    drawn[:, order] = rng.multinomial(total, ascending / total, size=replicates)
    return drawn


def resampled_matrices(
    counts: NDArray[np.int64], *, replicates: int, rng: np.random.Generator
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Resampled confusion matrices of a (K, K) matrix with at least one sample.

    Yields which replicates a batch holds and the batch itself, shape (b, K, K).
    """
    flat = counts.ravel()
    occupied = np.flatnonzero(flat)
    for part in batches(replicates, n_cells=flat.size):
        stack = np.zeros((part.stop - part.start, flat.size), np.int64)
        stack[:, occupied] = resampled_counts(flat[occupied], replicates=len(stack), rng=rng)
        yield part, stack.reshape(len(stack), *counts.shape)


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


Floats = NDArray[np.float64]


Evaluate = Callable[[NDArray[np.int64]], Mapping[str, Floats]]
"""From a stack (b, K, K) to values by key, shape (b,) or (b, K): NaN where undefined, +inf
where the metric tends to it."""

LARGEST_BOOTSTRAPPED = 2_500
"""Occupied cells up to which resampling is the method; above, the delta method is."""


def bootstrap(
    counts: NDArray[np.int64], evaluate: Evaluate, *, seed: int, replicates: int
) -> dict[str, Floats]:
    """Values of resampled matrices by key, shape (replicates,) or (replicates, K).

    `counts` is (K, K) with at least one sample. The same counts, seed and number of replicates
    give the same bits with the same version of numpy.
    """
    values: dict[str, Floats] = {}
    for part, stack in resampled_matrices(counts, replicates=replicates, rng=generator(seed)):
        for key, found in evaluate(stack).items():
            if key not in values:
                values[key] = np.empty((replicates, *found.shape[1:]))
            values[key][part] = found
    return values


def percentile_intervals(
    values: Floats, *, estimate: Floats, confidence: float, method: str
) -> Intervals:
    """Percentile intervals of one metric from its replicates, with what to know about them.

    `values` has shape (replicates, ...) and `estimate` (...). There is no interval where the
    estimate is undefined, nor where all resamples agree: their spread, 0, is then no measure
    of the uncertainty.
    """
    bounds, undefined = percentile_bounds(values, confidence=confidence)
    low, high = bounds.low, bounds.high
    is_defined = ~np.isnan(estimate)
    is_flat = is_defined & (low == high)
    is_outside = is_defined & ~is_flat & ((estimate < low) | (estimate > high))
    notes: dict[tuple[int, ...], list[str]] = {}
    for places, text in (
        (is_flat, "no variation among resamples"),
        (is_outside, "resamples are biased: the value lies outside"),
        (is_defined & ~is_flat & np.isposinf(high), "no upper end"),
    ):
        for place in np.argwhere(places):
            notes.setdefault(tuple(int(index) for index in place), []).append(text)
    usable = is_defined & ~is_flat
    return Intervals(
        Bounds(np.where(usable, low, np.nan), np.where(usable, high, np.nan)),
        method,
        undefined,
        {place: "; ".join(texts) for place, texts in notes.items()},
    )


def percentile_intervals_by_key(
    values: Mapping[str, Floats],
    *,
    estimates: Mapping[str, Floats],
    confidence: float,
    method: str,
) -> dict[str, Intervals]:
    """`percentile_intervals` of many metrics with the same replicates, to the same bits.

    One pass over all of them: what a call costs by itself, whatever it is given, would be most
    of the time that the interval of a single number takes.
    """
    if not estimates:
        return {}
    table = np.hstack([values[key].reshape(len(values[key]), -1) for key in estimates])
    flat = np.concatenate([np.ravel(estimate) for estimate in estimates.values()])
    whole = percentile_intervals(table, estimate=flat, confidence=confidence, method=method)
    found = {}
    start = 0
    for key, estimate in estimates.items():
        part, shape = slice(start, start + estimate.size), estimate.shape
        found[key] = Intervals(
            Bounds(whole.bounds.low[part].reshape(shape), whole.bounds.high[part].reshape(shape)),
            method,
            whole.undefined_share[part].reshape(shape),
            {
                tuple(map(int, np.unravel_index(place - start, shape))): text
                for (place,), text in whole.notes.items()
                if part.start <= place < part.stop
            },
        )
        start = part.stop
    return found


def bootstrap_name(replicates: int, *, shifted: bool = False) -> str:
    return f"multinomial bootstrap, {'shifted, ' if shifted else ''}{replicates} replicates"
