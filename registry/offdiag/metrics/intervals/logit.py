"""Intervals on the logit scale, for areas between 0 and 1."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.reliability import size_warning

SMALLEST_STANDARD_ERROR = 1e-13
"""Errors below this are zeros that rounding blurred."""


def logit_interval(
    value: float,
    variance: float | None,
    *,
    method: str,
    quantile: float,
    n_smallest: int,
    smallest: str,
) -> Interval:
    """Interval of an area of known variance that stays inside (0, 1).

    `quantile` is how many standard errors it reaches. `n_smallest` is the size of the class
    called `smallest`, which decides how far the variance can be trusted. No ends, with a note,
    if that class has fewer than five cases, or if the area is 0 or 1 or its variance is 0,
    which then says nothing.
    """
    note, has_ends = size_warning(n_smallest, smallest)
    if not has_ends or variance is None:
        return Interval(None, None, method, note=note)
    if variance <= SMALLEST_STANDARD_ERROR**2 or not 0.0 < value < 1.0:
        return Interval(None, None, method, note="no variation among the cases")
    centre = log(value / (1 - value))
    reach = quantile * sqrt(variance) / (value * (1 - value))
    low, high = (float(1 / (1 + np.exp(-end))) for end in (centre - reach, centre + reach))
    return Interval(low, high, method, note=note)
