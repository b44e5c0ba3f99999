"""A linear axis with tidy ends: each printed tick stands exactly where its number lies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle

from offdiag.domain.values import MetricValue

_MOST_STEPS = 6
_SMALLEST_STEP = Decimal("0.001")
_FACTORS = (Decimal(2), Decimal("2.5"), Decimal(2))
"""From 1 to 2, to 5, to 10."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The numbers from the first to the last tick; at least two ticks, evenly apart."""

    ticks: tuple[Decimal, ...]

    def fraction(self, value: float) -> float:
        """Place of a value, 0 at the first and 1 at the last tick."""
        low, high = float(self.ticks[0]), float(self.ticks[-1])
        return (value - low) / (high - low)

    @property
    def labels(self) -> tuple[tuple[float, str], ...]:
        """Place and text of each tick."""
        return tuple((self.fraction(float(tick)), _printed(tick)) for tick in self.ticks)


def axis_of(values: Iterable[MetricValue]) -> Axis:
    """The shortest tidy axis that holds all defined values with their intervals."""
    ends = [
        end
        for value in values
        for end in (value.value, value.ci_low, value.ci_high)
        if end is not None
    ] or [0.0, 1.0]
    low, high = min(ends), max(ends)
    step = _tidy((high - low) / _MOST_STEPS) if low < high else Decimal("0.1")
    first, last = math.floor(Decimal(str(low)) / step), math.ceil(Decimal(str(high)) / step)
    if first == last:
        first, last = (first - 1, last) if last > 0 else (first, last + 1)
    return Axis(tuple(step * number for number in range(first, last + 1)))


def _tidy(rough: float) -> Decimal:
    """The smallest of 1, 2 and 5 times a power of ten, from 0.001 on, that is at least this."""
    step = _SMALLEST_STEP
    factors = cycle(_FACTORS)
    while float(step) < rough:
        step *= next(factors)
    return step


def _printed(number: Decimal) -> str:
    return format(number.normalize() + 0, "f").replace("-", "\N{MINUS SIGN}")
