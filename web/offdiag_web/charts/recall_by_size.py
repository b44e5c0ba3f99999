"""Chart of the recall of every class over its number of examples, without overlapping captions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Literal

from markupsafe import Markup

from offdiag.domain.number_text import count, number
from offdiag_web.charts.svg import LogScale, coordinate, drawing, log_scale_over, readable, words

CHARACTER_WIDTH = 6.6
"""CSS pixels per character of texts in charts, rather too wide than too narrow."""
_ASCENT, _DESCENT = 9, 3
_CLEARANCE = 7
"""Minimum distance in pixels between a point and its name."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in the picture, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def distance(self, x: float, y: float) -> float:
        """The distance of a point from the nearest edge or corner, 0 inside."""
        return hypot(
            max(self.left - x, 0.0, x - self.right), max(self.top - y, 0.0, y - self.bottom)
        )

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def contains(self, other: Box) -> bool:
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )


@dataclass(frozen=True, slots=True)
class Caption:
    """A name at the baseline of its text."""

    text: str
    x: float
    y: float
    anchor: Anchor

    @property
    def box(self) -> Box:
        width = len(self.text) * CHARACTER_WIDTH
        left = {"start": self.x, "middle": self.x - width / 2, "end": self.x - width}[self.anchor]
        return Box(left, self.y - _ASCENT, left + width, self.y + _DESCENT)


def placed(
    names: Iterable[tuple[str, float, float]], *, within: Box, taken: Sequence[Box]
) -> list[Caption]:
    """Captions for points, each a name with its x and y; the first ones get the best positions.

    A caption is right of its point, left of it, above or below, inside `within` and clear of the
    boxes in `taken`.
    """
    occupied = list(taken)
    found = []
    for name, x, y in names:
        for caption in _candidates(name, x, y):
            box = caption.box
            if within.contains(box) and not any(box.overlaps(other) for other in occupied):
                occupied.append(box)
                found.append(caption)
                break
    return found


def _candidates(name: str, x: float, y: float) -> Iterable[Caption]:
    yield Caption(name, x + _CLEARANCE, y + 4, "start")
    yield Caption(name, x - _CLEARANCE, y + 4, "end")
    yield Caption(name, x, y - _CLEARANCE - _DESCENT, "middle")
    yield Caption(name, x, y + _CLEARANCE + _ASCENT, "middle")


WIDTH, HEIGHT = 420, 260
_FRAME = Box(34.0, 22.0, 408.0, 222.0)
_NAMED = Box(_FRAME.left, _FRAME.top - 8, _FRAME.right, _FRAME.bottom + 8)
"""Where names may be: also next to points on the borders of the frame."""
_RADIUS = 3.5
_RECALL_TICKS = ("0", "0.25", "0.5", "0.75", "1")


@dataclass(frozen=True, slots=True)
class ClassPoint:
    """A class with at least one sample; recall and the ends of its interval are in [0, 1]."""

    name: str
    cases: int
    recall: float
    low: float
    high: float
    stands_out: bool = False


@dataclass(frozen=True, slots=True)
class Floor:
    """A recall in [0, 1] below which a class is of concern, with its name."""

    recall: float
    text: str


def recall_by_size(points: Sequence[ClassPoint], *, floor: Floor | None, name: str) -> Markup:
    """Draw classes; if room is short, the names of the last ones are left out first.

    `name` describes what the chart shows.
    """
    scale = log_scale_over([point.cases for point in points])
    places = [(_x(point.cases, scale), _y(point.recall)) for point in points]
    return drawing(
        *_recall_axis(),
        *_size_axis(scale),
        *([] if floor is None else _floor(floor)),
        *(_whisker(point, x) for point, (x, _) in zip(points, places, strict=True)),
        *(_marker(point, x, y) for point, (x, y) in zip(points, places, strict=True)),
        *_captions(points, places, floor),
        width=WIDTH,
        height=HEIGHT,
        css_class="chart",
        name=name,
    )


def _x(cases: float, scale: LogScale) -> float:
    inner = _RADIUS + 2
    left, right = _FRAME.left + inner, _FRAME.right - inner
    return left + scale.fraction(cases) * (right - left)


def _y(recall: float) -> float:
    return _FRAME.bottom - recall * (_FRAME.bottom - _FRAME.top)


def _recall_axis() -> list[str]:
    left, right = coordinate(_FRAME.left), coordinate(_FRAME.right)
    parts = [words("recall", x=4, y=12, css_class="axis-title")]
    for text in _RECALL_TICKS:
        y = _y(float(text))
        parts.append(f'<path class="grid" d="M{left} {coordinate(y)}H{right}"/>')
        parts.append(words(text, x=_FRAME.left - 6, y=y + 4, anchor="end", css_class="tick"))
    return parts


def _size_axis(scale: LogScale) -> list[str]:
    bottom = coordinate(_FRAME.bottom)
    parts = [
        words(
            "examples of the class (logarithmic)",
            x=_FRAME.right,
            y=HEIGHT - 5,
            anchor="end",
            css_class="axis-title",
        )
    ]
    for tick in scale.ticks:
        x = _x(tick, scale)
        parts.append(
            f'<path class="grid" d="M{coordinate(x)} {bottom}V{coordinate(_FRAME.bottom + 4)}"/>'
        )
        parts.append(
            words(f"{tick:,}", x=x, y=_FRAME.bottom + 16, anchor="middle", css_class="tick")
        )
    return parts


def _floor(floor: Floor) -> list[str]:
    y = coordinate(_y(floor.recall))
    caption = _floor_caption(floor)
    return [
        f'<path class="floor" d="M{coordinate(_FRAME.left)} {y}H{coordinate(_FRAME.right)}"/>',
        words(caption.text, x=caption.x, y=caption.y, anchor=caption.anchor, css_class="tick"),
    ]


def _floor_caption(floor: Floor) -> Caption:
    """The caption at the right end, on the side with more room unless a grid line crosses it."""
    above, below = (
        Caption(floor.text, _FRAME.right - 2, _y(floor.recall) + shift, anchor="end")
        for shift in (-5, 13)
    )
    first, second = (above, below) if floor.recall < 0.5 else (below, above)
    grid = [_y(float(text)) for text in _RECALL_TICKS]
    return second if any(first.box.top < y < first.box.bottom for y in grid) else first


def _whisker(point: ClassPoint, x: float) -> str:
    css = "whisker whisker-out" if point.stands_out else "whisker"
    path = f"M{coordinate(x)} {coordinate(_y(point.low))}V{coordinate(_y(point.high))}"
    return f'<path class="{css}" d="{path}"/>'


def _marker(point: ClassPoint, x: float, y: float) -> str:
    """A dot, or a diamond that makes a class stand out even without colour."""
    recall, low, high = (number(x, decimals=2) for x in (point.recall, point.low, point.high))
    text = f"{point.name}: recall {recall} ({low} to {high}), {count(point.cases, 'example')}"
    if not point.stands_out:
        dot = f'<circle class="point" cx="{coordinate(x)}" cy="{coordinate(y)}" r="{_RADIUS}"/>'
        return readable(dot, text, x=point.cases, y=point.recall)
    corners = ((x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y))
    path = "L".join(f"{coordinate(a)} {coordinate(b)}" for a, b in corners)
    diamond = f'<path class="point point-out" d="M{path}Z"/>'
    return readable(diamond, text, x=point.cases, y=point.recall)


def _captions(
    points: Sequence[ClassPoint], places: Sequence[tuple[float, float]], floor: Floor | None
) -> list[str]:
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    if floor is not None:
        taken.append(_floor_caption(floor).box)
    names = [(point.name, x, y) for point, (x, y) in zip(points, places, strict=True)]
    return [
        words(caption.text, x=caption.x, y=caption.y, anchor=caption.anchor, css_class="caption")
        for caption in placed(names, within=_NAMED, taken=taken)
    ]
