"""Bootstrap intervals of anything that can be computed for a stack of matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Bounds, Intervals
from offdiag.metrics.intervals.percentile import percentile_bounds
from offdiag.metrics.intervals.resampling import generator, resampled_matrices

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

    `counts` is (K, K) with at least one case. The same counts, seed and number of replicates
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
