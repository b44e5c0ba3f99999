"""The flip chart: cost of each run relative to the cheapest, as one cost grows.

The cheapest run changes where lines meet 1. Absolute costs would exceed any frame and hide every
crossing. Both axes are logarithmic, so doubling a cost is the same step everywhere; a line that
exceeds the frame leaves it at the top, where its letter says how expensive it gets. The strip at
the bottom has the colour of the cheapest run, and is pale where the difference is not significant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag_web.charts.marks import RunStyle
from offdiag_web.charts.svg import coordinate, drawing, reading, words

_LINE_HEIGHT = 13
WIDTH, HEIGHT = 760, 300
_LEFT, _TOP, _RIGHT, _BOTTOM = 52.0, 30.0, 670.0, 252.0
_HIGHEST = 1.25
_HEIGHT_TICKS = ("1", "1.05", "1.1", "1.15", "1.2", "1.25")
_STEPS = (1, 2, 5)
_READ_EVERY = 5


@dataclass(frozen=True)
class FlipLine:
    """One run: its letter, and its cost over the cheapest at each x, 1 or more, or NaN."""

    run_label: str
    style: RunStyle
    times: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StripPart:
    """From `low` to `high`, the run with this style costs least."""

    low: float
    high: float
    style: RunStyle
    is_certain: bool


@dataclass(frozen=True)
class FlipAxis:
    """Multiples of the unit from `low` to `high`, powers of ten, and the x values of the lines."""

    low: Decimal
    high: Decimal
    at: NDArray[np.float64]

    def fraction(self, x: float) -> float:
        return math.log(x / float(self.low)) / math.log(float(self.high / self.low))

    @property
    def ticks(self) -> Iterator[Decimal]:
        tick = self.low
        while tick <= self.high:
            yield from (tick * step for step in _STEPS if tick * step <= self.high)
            tick *= 10


def flip_axis(marks: Sequence[float], *, points: int = 120) -> FlipAxis:
    """An axis over whole powers of ten, at least 1 to 100, that contains all positive marks."""
    lowest, highest = min([1.0, *marks]), max([100.0, *marks])
    low = Decimal(1).scaleb(math.floor(math.log10(lowest)))
    high = Decimal(1).scaleb(math.ceil(math.log10(highest)))
    grid = np.geomspace(float(low), float(high), points)
    inside = [mark for mark in marks if float(low) <= mark <= float(high)]
    return FlipAxis(low, high, np.unique(np.concatenate([grid, inside])))


def flip_chart(
    lines: Sequence[FlipLine],
    axis: FlipAxis,
    *,
    flips: Sequence[float],
    now: float,
    x_title: str,
    name: str,
    strip: Sequence[StripPart] = (),
) -> Markup:
    """Draw the lines, with a tick at each flip and at the current cost.

    `name` describes what the chart shows.
    """
    return drawing(
        words("cost ÷ cheapest", x=2, y=14, css_class="axis-title"),
        words(x_title, x=_RIGHT, y=HEIGHT - 6, anchor="end", css_class="axis-title"),
        *_height_axis(),
        *_strip(strip, axis),
        *_multiple_axis(axis),
        *_marks(axis, flips=flips, now=now),
        *(path for line in lines for path in _paths(line, axis)),
        *_letters(lines),
        *(spot for line in lines for spot in _readings(line, axis, flips)),
        width=WIDTH,
        height=HEIGHT,
        css_class="chart flip-chart",
        name=name,
    )


def _x(x: float, axis: FlipAxis) -> float:
    return _LEFT + axis.fraction(x) * (_RIGHT - _LEFT)


def _y(times: float) -> float:
    """Vertical position of a multiple of the cheapest; 1 is slightly above the frame's bottom."""
    return _BOTTOM - 6 - math.log(times) / math.log(_HIGHEST) * (_BOTTOM - 6 - _TOP)


def _height_axis() -> Iterator[str]:
    for text in _HEIGHT_TICKS:
        y = _y(float(text))
        path = f"M{coordinate(_LEFT)} {coordinate(y)}H{coordinate(_RIGHT)}"
        yield f'<path class="grid" d="{path}"/>'
        yield words(f"{text}×", x=_LEFT - 6, y=y + 4, anchor="end", css_class="tick")


def _multiple_axis(axis: FlipAxis) -> Iterator[str]:
    for tick in axis.ticks:
        x = _x(float(tick), axis)
        yield f'<path class="grid" d="M{coordinate(x)} {_BOTTOM:g}V{_BOTTOM + 4:g}"/>'
        text = f"{format(tick.normalize(), ',f')}×"
        yield words(text, x=x, y=_BOTTOM + 17, anchor="middle", css_class="tick")


def _strip(parts: Sequence[StripPart], axis: FlipAxis) -> Iterator[str]:
    for part in parts:
        left = _x(min(max(part.low, float(axis.low)), float(axis.high)), axis)
        right = _x(min(max(part.high, float(axis.low)), float(axis.high)), axis)
        css = f"strip-{'certain' if part.is_certain else 'open'} {part.style.css_class}"
        yield (
            f'<rect class="{css}" x="{coordinate(left)}" y="{_BOTTOM:g}" '
            f'width="{coordinate(right - left)}" height="4"/>'
        )


def _marks(axis: FlipAxis, *, flips: Sequence[float], now: float) -> Iterator[str]:
    for flip in flips:
        if axis.low < flip < axis.high:
            place = coordinate(_x(flip, axis))
            yield f'<path class="flip" d="M{place} {_TOP:g}V{_BOTTOM:g}"/>'
    if float(axis.low) <= now <= float(axis.high):
        x = _x(now, axis)
        yield (
            f'<path class="now" data-low="{axis.low}" data-high="{axis.high}" '
            f'data-left="{_LEFT:g}" data-right="{_RIGHT:g}" '
            f'd="M{coordinate(x)} {_TOP:g}V{_BOTTOM:g}"/>'
        )


def _paths(line: FlipLine, axis: FlipAxis) -> Iterator[str]:
    """The line inside the frame, in as many pieces as there are."""
    piece: list[str] = []
    previous: tuple[float, float] | None = None
    for x, times in zip(axis.at.tolist(), line.times.tolist(), strict=True):
        is_inside = not math.isnan(times) and times <= _HIGHEST
        was_inside = previous is not None and previous[1] <= _HIGHEST
        if previous is not None and is_inside != was_inside and not math.isnan(times):
            piece.append(_at_the_top(previous, (x, times), axis))
        if is_inside:
            piece.append(f"{coordinate(_x(x, axis))} {coordinate(_y(times))}")
        elif piece:
            yield _path(line, piece)
            piece = []
        previous = None if math.isnan(times) else (x, times)
    if piece:
        yield _path(line, piece)


def _at_the_top(one: tuple[float, float], other: tuple[float, float], axis: FlipAxis) -> str:
    """The point where the line between two points crosses the top of the frame."""
    share = (_HIGHEST - one[1]) / (other[1] - one[1])
    x = one[0] + share * (other[0] - one[0])
    return f"{coordinate(_x(x, axis))} {coordinate(_y(_HIGHEST))}"


def _path(line: FlipLine, piece: Sequence[str]) -> str:
    dash = f' stroke-dasharray="{line.style.dash}"' if line.style.dash else ""
    return f'<path class="line {line.style.css_class}"{dash} d="M{"L".join(piece)}"/>'


def _readings(line: FlipLine, axis: FlipAxis, flips: Sequence[float]) -> Iterator[str]:
    """Texts for the line at every few costs, and at every flip."""
    for place, (x, times) in enumerate(zip(axis.at.tolist(), line.times.tolist(), strict=True)):
        if (place % _READ_EVERY == 0 or x in flips) and times <= _HIGHEST:
            text = f"{line.run_label} at {x:,.3g}×: {times:.3f} times the lowest cost"
            place_in_picture = (_x(x, axis), _y(times))
            yield reading(text, *place_in_picture, values=(x, times), series=line.run_label)


def _letters(lines: Sequence[FlipLine]) -> Iterator[str]:
    """The letters at the right ends, without overlaps; of lines above the frame, at its top."""
    ends = [
        (_y(min(float(line.times[-1]), _HIGHEST)), line)
        for line in lines
        if not math.isnan(float(line.times[-1]))
    ]
    # From the bottom up, each letter is moved clear of the one below; then, from the top down,
    # letters that were pushed out of the frame are moved back, and others only as far as needed.
    ends.sort(key=lambda end: -end[0])
    places: list[float] = []
    for y, _ in ends:
        places.append(min(y + 4, places[-1] - _LINE_HEIGHT if places else math.inf))
    lowest_y = _TOP
    for index in reversed(range(len(places))):
        places[index] = max(places[index], lowest_y)
        lowest_y = places[index] + _LINE_HEIGHT
    for place, (_, line) in zip(places, ends, strict=True):
        css_class = f"run-letter {line.style.css_class}"
        times = float(line.times[-1])
        text = f"{line.run_label} {_multiple(times)}{' ↑' if times > _HIGHEST else ''}"
        yield words(text, x=_RIGHT + 8, y=place, css_class=css_class)


def _multiple(times: float) -> str:
    """Three digits, which is what fits into the margin."""
    return ">999×" if times >= 999.5 else f"{times:#.3g}".removesuffix(".") + "×"
