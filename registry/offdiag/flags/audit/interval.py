"""Ranges of real numbers, and what formulas make of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

ROUNDING = 1e-12
"""Slack for the rounding of float64 in every comparison of an audit."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`, both included; empty if low exceeds high.

    `or_undefined` adds the possibility that there is no number at all.
    """

    low: float
    high: float
    or_undefined: bool = False

    @property
    def is_empty(self) -> bool:
        return self.low > self.high + ROUNDING

    def meets(self, other: Interval) -> bool:
        """Whether the two have a number in common, give or take rounding."""
        return not self.intersection(other).is_empty

    def intersection(self, other: Interval) -> Interval:
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def rising(self, function: Callable[[float], float]) -> Interval:
        """The image under a function that never falls."""
        return Interval(function(self.low), function(self.high))

    def falling(self, function: Callable[[float], float]) -> Interval:
        """The image under a function that never rises."""
        return Interval(function(self.high), function(self.low))

    def to_list(self) -> list[float | None]:
        """JSON form: low and high, None for an end that is infinite."""
        return [end if math.isfinite(end) else None for end in (self.low, self.high)]


UNIT = Interval(0.0, 1.0)


def mean_of(parts: Iterable[Interval], weights: Iterable[float]) -> Interval:
    """Weighted mean of intervals; the weights add up to 1."""
    pairs = list(zip(parts, weights, strict=True))
    return Interval(
        sum(weight * part.low for part, weight in pairs),
        sum(weight * part.high for part, weight in pairs),
    )


def rising_in_both(
    function: Callable[[float, float], float], first: Interval, second: Interval
) -> Interval:
    """The image under a function of two arguments that falls in neither."""
    return Interval(function(first.low, second.low), function(first.high, second.high))


def harmonic_mean(first: float, second: float) -> float:
    """2 a b / (a + b), 0 where both are 0; rising in both arguments from 0 on."""
    return 2 * first * second / (first + second) if first + second > 0 else 0.0
