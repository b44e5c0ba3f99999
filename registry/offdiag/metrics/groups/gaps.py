"""A metric of several groups: the lowest value, the largest difference and the smallest ratio.

Which group is lowest is seen in the data, so the interval of that group alone would promise too
much on one side and too little on none. With alpha = 1 - confidence, an end that says "it is at
least this bad" takes Bonferroni's share of alpha over all statements from which it was chosen; the
other end, "every group is at least this good", takes alpha undivided: it is wrong only if the
interval of the truly worst group is (intersection-union test, Berger 1982, Technometrics 24, 295).

Groups have different samples, so differences and ratios combine the ends of two intervals by
square-and-add: Zou and Donner (2008), Stat. Med. 27, 1693, of which Newcombe's interval of two
proportions is the case of Wilson ends, and Donner and Zou (2012), Stat. Methods Med. Res. 21, 347.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.intervals.bounds import Bounds

METHOD = "square-and-add over all groups"
METHOD_WORST = "all groups together"

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupValues:
    """A metric of G groups with no sample in common: values (G,), NaN where undefined.

    `bounds` gives the ends of the intervals (G,) for a confidence.
    """

    values: Floats
    bounds: Callable[[float], Bounds]


def shared_confidence(confidence: float, n_statements: int) -> float:
    """The confidence of each of n statements that hold together (Bonferroni)."""
    return 1 - (1 - confidence) / max(n_statements, 1)


def worst(
    groups: GroupValues, *, is_highest: bool = False, confidence: float = 0.95
) -> MetricValue:
    """The lowest value of the groups, or the highest one, with its interval.

    Undefined without a group, and where the value of any group is.
    """
    undefined = _undefined(groups.values, fewest=1)
    if undefined is not None:
        return undefined
    alone = groups.bounds(confidence)
    chosen = groups.bounds(shared_confidence(confidence, len(groups.values)))
    if is_highest:
        value, low, high = groups.values.max(), chosen.low.max(), alone.high.max()
    else:
        value, low, high = groups.values.min(), alone.low.min(), chosen.high.min()
    return _value(value, low, high, METHOD_WORST)


def largest_difference(
    groups: GroupValues, *, n_families: int = 1, confidence: float = 0.95
) -> MetricValue:
    """The highest value minus the lowest, at least 0.

    `n_families` is the number of metrics from which this difference may still be chosen.
    Undefined for fewer than two groups, and where the value of any group is.
    """
    undefined = _undefined(groups.values, fewest=2)
    if undefined is not None:
        return undefined
    values = groups.values
    alone, chosen = _levels(groups, n_families, confidence)
    difference = values[:, None] - values[None, :]
    low = difference - np.hypot((values - chosen.low)[:, None], (chosen.high - values)[None, :])
    high = difference + np.hypot((alone.high - values)[:, None], (values - alone.low)[None, :])
    pairs = ~np.eye(len(values), dtype=np.bool_)
    return _value(
        values.max() - values.min(), max(0.0, low[pairs].max()), high[pairs].max(), METHOD
    )


def smallest_ratio(
    groups: GroupValues, *, n_families: int = 1, confidence: float = 0.95
) -> MetricValue:
    """The lowest value divided by the highest, in [0, 1], for values that are never negative.

    Undefined as `largest_difference` is, and where all values are 0.
    """
    undefined = _undefined(groups.values, fewest=2)
    if undefined is not None:
        return undefined
    values = groups.values
    if not values.max() > 0:
        return MetricValue(None, Reason.ZERO_OVER_ZERO.value)
    alone, chosen = _levels(groups, n_families, confidence)
    low, _ = _ratio_ends(values, alone)
    _, high = _ratio_ends(values, chosen)
    pairs = ~np.eye(len(values), dtype=np.bool_)
    ratio = values.min() / values.max()
    return _value(
        ratio, min(ratio, low[pairs].min()), max(ratio, min(1.0, high[pairs].min())), METHOD
    )


def worst_of(differences: Sequence[MetricValue], *, is_highest: bool) -> MetricValue:
    """The largest of several differences, or the smallest of several ratios, ends likewise."""
    undefined = next((each for each in differences if each.value is None), None)
    if undefined is not None:
        return undefined
    pick = max if is_highest else min
    value, low, high = (
        pick(end for end in ends if end is not None)
        for ends in zip(
            *((each.value, each.ci_low, each.ci_high) for each in differences), strict=True
        )
    )
    return MetricValue(value, ci_low=low, ci_high=high, ci_method=METHOD)


def _levels(groups: GroupValues, n_families: int, confidence: float) -> tuple[Bounds, Bounds]:
    n_groups = len(groups.values)
    n_statements = n_families * n_groups * (n_groups - 1) // 2
    return groups.bounds(confidence), groups.bounds(shared_confidence(confidence, n_statements))


def _ratio_ends(values: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """Ends (G, G) of the row's value divided by the column's (Donner and Zou 2012, eq. 9)."""
    product = values[:, None] * values[None, :]
    above_low = (bounds.low * (2 * values - bounds.low))[:, None]
    above_high = (bounds.high * (2 * values - bounds.high))[:, None]
    below_low = (bounds.low * (2 * values - bounds.low))[None, :]
    below_high = (bounds.high * (2 * values - bounds.high))[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Each end is written so that it does not cancel and has a limit where a value is 0.
        low = above_low / (product + np.sqrt(np.maximum(product**2 - above_low * below_high, 0)))
        high = (product + np.sqrt(np.maximum(product**2 - above_high * below_low, 0))) / below_low
    return np.where(above_low > 0, low, 0.0), np.where(below_low > 0, high, np.inf)


def _undefined(values: Floats, *, fewest: int) -> MetricValue | None:
    if len(values) < fewest:
        return MetricValue(None, Reason.TOO_FEW_GROUPS.value)
    if np.isnan(values).any():
        return MetricValue(None, Reason.GROUP_VALUE_UNDEFINED.value)
    return None


def _value(value: float, low: float, high: float, method: str) -> MetricValue:
    has_low, has_high = bool(np.isfinite(low)), bool(np.isfinite(high))
    return MetricValue(
        float(value),
        ci_low=float(low) if has_low else None,
        ci_high=float(high) if has_high else None,
        ci_method=method if has_low or has_high else None,
    )
