"""Reflected bootstrap intervals, for metrics that noise inflates.

A calibration error adds up absolute gaps, a distance between distributions takes the largest
one, and both grow with noise. Resampling adds the noise once more, so resampled values lie
above the value as the value lies above the truth, and their percentiles lie on the wrong side
of it. The reflected interval (Davison and Hinkley 1997, Bootstrap Methods, 5.2) turns them
around the value: with well calibrated forecasts of 1,000 cases the percentile interval of the
reliability part never covers the truth, the reflected one nearly always (the tests repeat it).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.percentile import percentile_bounds

Floats = NDArray[np.float64]


def reflected_interval(
    values: Floats,
    *,
    estimate: float | None,
    low: float,
    high: float,
    confidence: float,
    method: str,
    warning: str | None = None,
) -> Interval:
    """[2 v - q_upper, 2 v - q_lower] of the value v, within the range `low` to `high`.

    `values` (replicates,) hold NaN where undefined. `warning` is noted beside the ends. No
    ends where the value is undefined, where all resamples agree, and where reflection leaves
    the range altogether; the latter two are noted.
    """
    bounds, undefined = percentile_bounds(values, confidence=confidence)
    share = float(undefined)
    if estimate is None:
        return Interval(None, None, method, share)
    lower, upper = bounds.at()
    if lower is None or upper is None or upper - lower <= _rounding(estimate):
        return Interval(None, None, method, share, "no variation among resamples")
    reflected = max(2 * estimate - upper, float(low)), min(2 * estimate - lower, float(high))
    if reflected[0] >= reflected[1]:
        return Interval(None, None, method, share, "resamples are too biased")
    notes = [] if warning is None else [warning]
    if not reflected[0] <= estimate <= reflected[1]:
        notes.append("the value lies outside: it is mostly noise")
    return Interval(*reflected, method, share, "; ".join(notes) or None)


def _rounding(estimate: float) -> float:
    """Differences up to this are zeros that rounding blurred."""
    return 1e-12 * max(1.0, abs(estimate))
