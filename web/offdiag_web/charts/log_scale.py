"""A logarithmic axis for counts, with ends and ticks that can be printed exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1, 2, 5)
_FEWEST_TICKS = 3


@dataclass(frozen=True, slots=True)
class LogScale:
    """An axis from `low` to `high`, whole numbers with 1 <= low < high."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low < self.high:
            raise ValueError(f"a logarithmic axis from {self.low} to {self.high} has no length")

    def fraction(self, value: float) -> float:
        """Place of a positive value: 0 at the low end, 1 at the high end."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    @property
    def ticks(self) -> tuple[int, ...]:
        """Powers of ten on the axis, and 2 and 5 times those where there are few."""
        round_numbers = _round_numbers(self.high)
        powers = [n for n in round_numbers if n >= self.low and str(n).strip("0") == "1"]
        if len(powers) >= _FEWEST_TICKS:
            return tuple(powers)
        return tuple(n for n in round_numbers if n >= self.low)


def log_scale_over(counts: Sequence[int]) -> LogScale:
    """The shortest axis between two round numbers that holds all counts, each at least 1."""
    smallest, largest = (min(counts), max(counts)) if counts else (1, 10)
    below = [n for n in _round_numbers(smallest) if n <= smallest]
    above = _round_numbers(10 * largest)
    high = next(n for n in above if n >= largest)
    if below[-1] == high:
        high = next(n for n in above if n > high)
    return LogScale(below[-1], high)


def _round_numbers(largest: int) -> list[int]:
    """1, 2, 5, 10, 20, 50 and so on, up to `largest`."""
    powers = range(len(str(largest)))
    return [step * 10**power for power in powers for step in _STEPS if step * 10**power <= largest]
