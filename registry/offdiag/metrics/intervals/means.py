"""Intervals of the mean of independent cases, by Student's t.

Losses are skewed, mostly small with a few large ones. Their interval is taken for the
logarithm of the mean: for 20 cases of logarithmic loss that lifts the coverage of a nominal
95 % interval from about 89 % to about 93 %, and both ends stay positive.

Intervals on the logit scale, for areas between 0 and 1.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE, Interval, size_warning

STUDENT = "student t"
STUDENT_LOG = "student t, log scale"
SMALLEST_RELATIVE_ERROR = 1e-14
"""Errors below this share of the mean are zeros that rounding blurred."""

Floats = NDArray[np.float64]


def mean_interval(values: Floats, *, low: float, high: float, confidence: float) -> Interval:
    """Interval of the mean of n values that lie between `low` and `high`.

    No ends, with a note, for a single case and where all cases are equal.
    """
    mean, error = _mean_and_error(values)
    if error is None:
        return _no_interval(values, STUDENT)
    reach = student_quantile(confidence, n_cases=len(values)) * error
    ends = max(mean - reach, low), min(mean + reach, high)
    return Interval(*ends, STUDENT, note=_warning(values))


def mean_loss_interval(losses: Floats, *, largest: float = inf, confidence: float) -> Interval:
    """Interval of the mean of n losses between 0 and `largest`, on the log scale.

    No ends, with a note, for a single case and where all cases are equal.
    """
    mean, error = _mean_and_error(losses)
    if error is None:
        return _no_interval(losses, STUDENT_LOG)
    reach = student_quantile(confidence, n_cases=len(losses)) * error / mean
    # The exponential of a huge reach is beyond all numbers, its logarithm is not.
    top = log(mean) + reach
    high = largest if largest < inf and top >= log(largest) else _exponential(top)
    return Interval(mean * exp(-reach), high, STUDENT_LOG, note=_warning(losses))


def student_quantile(confidence: float, *, n_cases: int) -> float:
    """The t with P(|T| <= t) = `confidence` for n - 1 degrees of freedom; n is at least 2."""
    from scipy.special import stdtrit

    tail = (1.0 - confidence_level(confidence)) / 2.0
    return float(-stdtrit(n_cases - 1, tail))


def _mean_and_error(values: Floats) -> tuple[float, float | None]:
    """Mean and its standard error, None where that cannot be told from 0."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, None
    error = float(values.std(ddof=1)) / sqrt(len(values))
    return mean, error if error > SMALLEST_RELATIVE_ERROR * abs(mean) else None


def _no_interval(values: Floats, method: str) -> Interval:
    note = "a single case" if len(values) < 2 else "no variation among the cases"
    return Interval(None, None, method, note=note)


def _warning(values: Floats) -> str | None:
    n_cases = len(values)
    return None if n_cases >= RELIABLE_CLASS_SIZE else f"unreliable, n = {n_cases}"


def _exponential(power: float) -> float | None:
    """e to a power, None where there is no such number."""
    return exp(power) if power < log(np.finfo(np.float64).max) else None


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
