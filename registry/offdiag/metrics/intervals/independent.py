"""Interval of the difference of two values that were measured on different cases."""

from __future__ import annotations

import math

from offdiag.domain.values import MetricValue


def difference_bounds(before: MetricValue, after: MetricValue) -> tuple[float, float] | None:
    """Interval of the difference of two values, new minus old, from the interval of each.

    Square-and-add (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702), which takes
    the runs for independent. Runs on the same cases usually err on the same ones, and then
    this interval is wider than it need be. None where either interval is missing.
    """
    if before.value is None or after.value is None:
        return None
    bounds = before.ci_low, before.ci_high, after.ci_low, after.ci_high
    if None in bounds:
        return None
    old_low, old_high, new_low, new_high = (bound or 0.0 for bound in bounds)
    difference = after.value - before.value
    return (
        difference - math.hypot(after.value - new_low, old_high - before.value),
        difference + math.hypot(new_high - after.value, before.value - old_low),
    )
