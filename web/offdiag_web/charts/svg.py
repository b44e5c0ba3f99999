"""SVG drawings as text, and axes that map values to positions.

Only here do drawings become markup: text is escaped and coordinates are checked. Colours come from
CSS classes, never from style attributes, which the content security policy would block.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from statistics import quantiles
from typing import Literal

from markupsafe import Markup, escape


def coordinate(value: float) -> str:
    """A finite number with at most two decimals, as short as possible.

    Raises `ValueError` for NaN and infinity: a browser would silently drop the whole element.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a coordinate")
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def broken_line(points: Iterable[tuple[float, float] | None]) -> str:
    """Path data through points, with a gap at each None; "" for fewer than two points."""
    path, is_down = [], False
    for point in points:
        if point is not None:
            command = "L" if is_down else "M"
            path.append(f"{command}{coordinate(point[0])} {coordinate(point[1])}")
        is_down = point is not None
    return "".join(path) if len(path) > 1 else ""


def readable(element: str, text: str, *, x: float | None = None, y: float | None = None) -> str:
    """A mark of a chart, with a text that appears when it is hovered or focused.

    `x` and `y` are its values, for readers who redraw the chart.
    """
    values = "" if x is None or y is None else f' data-x="{x!r}" data-y="{y!r}"'
    return f'{element.removesuffix("/>")} data-read="{escape(text)}"{values}/>'


def reading(
    text: str, x: float, y: float, *, values: tuple[float, float], series: str = ""
) -> str:
    """A point of a chart with a text, where nothing is drawn or the drawn mark cannot have one.

    `x` and `y` are its position in the picture, `values` those on the axes, `series` the line it
    is on if there are several.
    """
    of = f' data-series="{escape(series)}"' if series else ""
    spot = f'<circle class="spot" cx="{coordinate(x)}" cy="{coordinate(y)}" r="0"{of}/>'
    return readable(spot, text, x=values[0], y=values[1])


def drawing(
    *parts: str,
    width: int,
    height: int,
    css_class: str,
    name: str,
    shares: tuple[int, int, int, int] | None = None,
    role: Literal["img", "group"] = "img",
) -> Markup:
    """A picture of fixed size in CSS pixels, so that nothing moves while the page loads.

    `shares` are left, top, width and height of the area whose axes both go from 0 to 1, for
    reading values off its lines. The `role` is that of a group if there are links inside, which a
    single image would hide from screen readers.

    `parts` are elements made from numbers by this package; `name` describes the picture to those
    who do not see it, and may contain any text.
    """
    area = "" if shares is None else f' data-shares="{" ".join(map(str, shares))}"'
    return Markup(  # noqa: S704 - parts are built from checked coordinates, the name is escaped
        f'<svg class="{css_class}"{area} width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="{role}" aria-label="{escape(name)}">'
        f"{''.join(parts)}</svg>"
    )


def linked(content: str, *, url: str, css_class: str, name: str) -> str:
    """Elements made by this package that are a link; `name` may contain any text."""
    return f'<a class="{css_class}" href="{escape(url)}" aria-label="{escape(name)}">{content}</a>'


def words(
    text: str,
    *,
    x: float,
    y: float,
    css_class: str,
    anchor: Literal["start", "middle", "end"] = "start",
) -> str:
    """Any text, at the position of its baseline."""
    return (
        f'<text class="{css_class}" x="{coordinate(x)}" y="{coordinate(y)}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


@dataclass(frozen=True, slots=True)
class Extent:
    """What one mark covers: the estimate and, if known, its interval."""

    estimate: float
    low: float | None = None
    high: float | None = None

    @property
    def lowest(self) -> float:
        return self.estimate if self.low is None else min(self.low, self.estimate)

    @property
    def highest(self) -> float:
        return self.estimate if self.high is None else max(self.high, self.estimate)


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear axis between two printable ends, `low` < `high`."""

    low: Decimal
    high: Decimal

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"an axis from {self.low} to {self.high} has no length")

    def fraction(self, value: float) -> float:
        """Position of a value: 0 at the low end, 1 at the high end, beyond them outside."""
        low, high = float(self.low), float(self.high)
        return (value - low) / (high - low)

    def clamped(self, value: float) -> float:
        """`fraction`, moved to the nearer end when outside."""
        return min(1.0, max(0.0, self.fraction(value)))

    @property
    def ends(self) -> tuple[str, str]:
        """Both ends as printed, with a typographic minus."""
        return _printed(self.low), _printed(self.high)


UNIT = Scale(Decimal(0), Decimal(1))
SIGNED_UNIT = Scale(Decimal(-1), Decimal(1))


def fitted(extents: Sequence[Extent], *, within: Scale) -> Scale:
    """The shortest tidy axis that shows the intervals of all but the outlying estimates.

    Outlying means beyond Tukey's fences, 1.5 interquartile ranges from the quartiles: one dummy
    model should not squeeze all others together. Outliers are drawn as arrows.
    """
    shown = _without_outliers(extents)
    if not shown:
        return within
    low = min(extent.lowest for extent in shown)
    high = max(extent.highest for extent in shown)
    step = _tidy_step((high - low) / 8)
    bottom = max(within.low, step * math.floor(Decimal(str(low)) / step))
    top = min(within.high, step * math.ceil(Decimal(str(high)) / step))
    if bottom == top:
        bottom, top = max(within.low, bottom - step), min(within.high, top + step)
    return Scale(bottom, top) if bottom < top else within


def spanning(values: Sequence[float], *, steps: int = 8) -> Scale:
    """The shortest tidy axis, of about `steps` steps, that shows all of these numbers."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2
    # The numbers are so close that a float cannot hold an eighth of their distance.
    step = tidy_at_least(max((high - low) / steps, sys.float_info.min))
    bottom = step * math.floor(Decimal(str(low)) / step)
    top = step * math.ceil(Decimal(str(high)) / step)
    return Scale(bottom, top)


def tidy_at_least(rough: float) -> Decimal:
    """The smallest of 1, 2 and 5 times a power of ten that is at least a positive number."""
    power = math.floor(math.log10(rough))
    tidy = (
        Decimal(step).scaleb(exponent) for exponent in (power, power + 1) for step in (1, 2, 5)
    )
    return next(step for step in tidy if float(step) >= rough)


def _without_outliers(extents: Sequence[Extent]) -> Sequence[Extent]:
    if len(extents) < 4:
        return extents
    first, _, third = quantiles((extent.estimate for extent in extents), n=4)
    reach = 1.5 * (third - first)
    return [e for e in extents if first - reach <= e.estimate <= third + reach]


def _tidy_step(rough: float) -> Decimal:
    """The smallest of 0.01, 0.02, 0.05, 0.1, 0.2, 0.5 that is at least `rough`."""
    steps = [Decimal(text) for text in ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5")]
    for smaller, larger in pairwise(steps):
        if float(smaller) < rough <= float(larger):
            return larger
    return steps[0] if rough <= float(steps[0]) else steps[-1]


def _printed(value: Decimal) -> str:
    plain = format(value.normalize(), ",f")
    return plain.replace("-", "\N{MINUS SIGN}")


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
        """Position of a positive value: 0 at the low end, 1 at the high end."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    @property
    def ticks(self) -> tuple[int, ...]:
        """Powers of ten on the axis, with 2 and 5 times those if there are few."""
        round_numbers = _round_numbers(self.high)
        powers = [n for n in round_numbers if n >= self.low and str(n).strip("0") == "1"]
        if len(powers) >= _FEWEST_TICKS:
            return tuple(powers)
        return tuple(n for n in round_numbers if n >= self.low)


def log_scale_over(counts: Sequence[int]) -> LogScale:
    """The shortest axis between two round numbers that contains all counts, each at least 1."""
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
