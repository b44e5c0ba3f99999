"""Charts of a report, intervals and trends, as lines, dots and texts at coordinates.

Colours are literal in the template, because a printed file has no stylesheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle, pairwise
from typing import Literal

from offdiag.domain import sentences
from offdiag.domain.number_text import count
from offdiag.domain.values import MetricValue
from offdiag.metrics import metric_text
from offdiag.reports.report import HistoryPoint

_MOST_STEPS = 6
_SMALLEST_STEP = Decimal("0.001")
_FACTORS = (Decimal(2), Decimal("2.5"), Decimal(2))
"""Steps from 1 to 2, to 5, to 10."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The numbers from the first to the last tick; at least two ticks, evenly spaced."""

    ticks: tuple[Decimal, ...]

    def fraction(self, value: float) -> float:
        """Position of a value, 0 at the first and 1 at the last tick."""
        low, high = float(self.ticks[0]), float(self.ticks[-1])
        return (value - low) / (high - low)

    @property
    def labels(self) -> tuple[tuple[float, str], ...]:
        """Position and text of each tick."""
        return tuple((self.fraction(float(tick)), _printed(tick)) for tick in self.ticks)


def axis_of(values: Iterable[MetricValue]) -> Axis:
    """The shortest axis with round ticks that covers all defined values with their intervals."""
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
    """The smallest of 1, 2 and 5 times a power of ten, from 0.001 on, that is at least `rough`."""
    step = _SMALLEST_STEP
    factors = cycle(_FACTORS)
    while float(step) < rough:
        step *= next(factors)
    return step


def _printed(number: Decimal) -> str:
    return format(number.normalize() + 0, "f").replace("-", "\N{MINUS SIGN}")


LineKind = Literal["grid", "interval", "baseline", "trend"]
Anchor = Literal["start", "middle", "end"]

WIDTH = 680
TOP = 10
BELOW = 44
"""Space for the numbers and the title of an axis."""
_LONGEST_NAME = 26


@dataclass(frozen=True, slots=True)
class Line:
    x1: str
    y1: str
    x2: str
    y2: str
    kind: LineKind


@dataclass(frozen=True, slots=True)
class Dot:
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Label:
    """Text at a position; `is_title` marks the title of an axis."""

    x: str
    y: str
    text: str
    anchor: Anchor
    is_title: bool = False
    is_upright: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of fixed size; `name` describes in words what it shows."""

    width: int
    height: int
    name: str
    lines: tuple[Line, ...]
    dots: tuple[Dot, ...]
    labels: tuple[Label, ...]


def at(value: float) -> str:
    """A coordinate with at most one decimal. Raises `ValueError` for NaN and infinity."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a coordinate")
    return f"{value:.1f}".removesuffix(".0")


def short(name: str) -> str:
    """A name shortened in the middle, because both ends distinguish names."""
    visible = sentences.visible(name)
    if len(visible) <= _LONGEST_NAME:
        return visible
    half = _LONGEST_NAME // 2
    return f"{visible[: half - 1]}\N{HORIZONTAL ELLIPSIS}{visible[-half:]}"


_ROW = 22
_LABELS = 190
"""Space for names left of the axis."""
_MARGIN = 24


def interval_chart(
    rows: Sequence[tuple[str, MetricValue]],
    *,
    value_title: str,
    rows_are: tuple[str, str],
    baseline: float | None = None,
) -> Drawing:
    """One row for each estimate: a dot and its interval, undefined values in words.

    `rows_are` is the noun for one row and for several. `baseline` is marked by a dashed line, and
    drawn only if it lies on the axis.
    """
    axis = axis_of(value for _, value in rows)
    bottom = TOP + _ROW * len(rows)
    lines = [_vertical(_x(place), bottom, "grid") for place, _ in axis.labels]
    if baseline is not None and 0 <= axis.fraction(baseline) <= 1:
        lines.append(_vertical(_x(axis.fraction(baseline)), bottom, "baseline"))
    labels = [Label(at(_x(place)), at(bottom + 14), text, "middle") for place, text in axis.labels]
    middle = (_LABELS + WIDTH - _MARGIN) / 2
    labels.append(Label(at(middle), at(bottom + 34), value_title, "middle", is_title=True))
    labels.append(Label("0", at(bottom + 34), rows_are[0], "start", is_title=True))
    dots = []
    for number, (name, value) in enumerate(rows):
        y = TOP + _ROW * (number + 0.5)
        labels.append(Label("0", at(y + 4), short(name), "start"))
        if value.value is None:
            labels.append(Label(at(_LABELS + 6), at(y + 4), metric_text.shown(value), "start"))
            continue
        dots.append(Dot(at(_x(axis.fraction(value.value))), at(y)))
        if value.ci_low is not None and value.ci_high is not None:
            ends = (_x(axis.fraction(end)) for end in (value.ci_low, value.ci_high))
            left, right = (at(end) for end in ends)
            lines.append(Line(left, at(y), right, at(y), "interval"))
    name = f"{value_title} of {count(len(rows), *rows_are)}, each with its interval"
    return Drawing(WIDTH, bottom + BELOW, name, tuple(lines), tuple(dots), tuple(labels))


def _vertical(x: float, bottom: float, kind: LineKind) -> Line:
    return Line(at(x), at(TOP), at(x), at(bottom), kind)


def _x(fraction: float) -> float:
    return _LABELS + fraction * (WIDTH - _MARGIN - _LABELS)


_HEIGHT = 180
_LEFT = 70
_RIGHT = 150
_DOT = 3.5


def trend_chart(history: Sequence[HistoryPoint], *, value_title: str) -> Drawing:
    """The best value of each edition with its interval; a gap where there was none."""
    axis = axis_of(point.value for point in history if point.value is not None)
    bottom = TOP + _HEIGHT
    labels = [Label(at(_LEFT - 8), at(_y(place) + 4), text, "end") for place, text in axis.labels]
    lines = [
        Line(at(_LEFT), at(_y(place)), at(WIDTH - _RIGHT), at(_y(place)), "grid")
        for place, _ in axis.labels
    ]
    places = [_edition_x(number, len(history)) for number in range(len(history))]
    for x, point in zip(places, history, strict=True):
        labels.append(Label(at(x), at(bottom + 14), str(point.number), "middle"))
    labels += [
        Label(at(places[-1] / 2 + _LEFT / 2), at(bottom + 34), "edition", "middle", True),
        Label("14", at(_y(0.5)), value_title, "middle", is_title=True, is_upright=True),
    ]
    heights = [_height(axis, point) for point in history]
    lines += _trend_lines(places, heights)
    lines += _spreads(axis, places, history)
    dots = tuple(Dot(at(x), at(y)) for x, y in zip(places, heights, strict=True) if y is not None)
    last = history[-1]
    if last.value is not None and last.run_name is not None and heights[-1] is not None:
        text = f"{metric_text.shown(last.value)} {short(last.run_name)}"
        labels.append(Label(at(places[-1] + 8), at(heights[-1] + 4), text, "start"))
    name = f"{value_title}, the best value of each of {count(len(history), 'edition')}"
    return Drawing(WIDTH, bottom + BELOW, name, tuple(lines), dots, tuple(labels))


def _trend_lines(places: Sequence[float], heights: Sequence[float | None]) -> Iterator[Line]:
    points = list(zip(places, heights, strict=True))
    for (x1, y1), (x2, y2) in pairwise(points):
        if y1 is not None and y2 is not None:
            yield Line(at(x1), at(y1), at(x2), at(y2), "trend")


def _spreads(
    axis: Axis, places: Sequence[float], history: Sequence[HistoryPoint]
) -> Iterator[Line]:
    for x, point in zip(places, history, strict=True):
        value = point.value
        if value is not None and value.ci_low is not None and value.ci_high is not None:
            top, low = _y(axis.fraction(value.ci_high)), _y(axis.fraction(value.ci_low))
            yield Line(at(x), at(top), at(x), at(low), "interval")


def _height(axis: Axis, point: HistoryPoint) -> float | None:
    if point.value is None or point.value.value is None:
        return None
    return _y(axis.fraction(point.value.value))


def _edition_x(number: int, of: int) -> float:
    room = WIDTH - _RIGHT - _LEFT - 2 * _DOT
    return _LEFT + _DOT + (room * number / (of - 1) if of > 1 else room)


def _y(fraction: float) -> float:
    return TOP + (1 - fraction) * _HEIGHT
