"""Whether something grows: the first quarter of the time after a warm-up against the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

_FEWEST = 3
"""Looks in a quarter, below which nothing is said."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Medians of what was seen in the first and in the last quarter."""

    first: float
    last: float

    @property
    def growth(self) -> float:
        return self.last - self.first

    @property
    def ratio(self) -> float:
        return self.last / self.first

    def __str__(self) -> str:
        return f"{self.first:.4g}, {self.last:.4g}"


def trend(at_s: Sequence[float], values: Sequence[float], *, warm_until_s: float) -> Trend | None:
    """What became of some values from the end of the warm-up to the last look.

    None where there are too few of them in a quarter. The median of a quarter does not see what
    is gone in a moment, such as a connection during a request.
    """
    if not at_s:
        return None
    quarter_s = (at_s[-1] - warm_until_s) / 4
    pairs = list(zip(at_s, values, strict=True))
    first = [value for at, value in pairs if warm_until_s <= at <= warm_until_s + quarter_s]
    last = [value for at, value in pairs if at >= at_s[-1] - quarter_s and at >= warm_until_s]
    if min(len(first), len(last)) < _FEWEST:
        return None
    return Trend(median(first), median(last))
