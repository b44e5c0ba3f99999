"""Small marks in lines and table cells: estimates with intervals, shares, churn, runs, classes.

The dot is an estimate, the bar its interval, a dashed tick the baseline. An arrowhead points
beyond the end of the axis, because a mark outside is never drawn at the edge as if it were inside.
If there is also a simultaneous interval, that one is a thin whisker and the bar is thick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from offdiag_web.charts.svg import UNIT, Extent, Scale, coordinate, drawing

_MARGIN = 6
"""Pixels kept free at both ends, so that a dot at an end is not cut off."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """Size of the picture in CSS pixels."""

    width: int
    height: int

    def x(self, fraction: float) -> float:
        return _MARGIN + fraction * (self.width - 2 * _MARGIN)

    @property
    def middle(self) -> float:
        return self.height / 2


IN_TABLE = Canvas(width=104, height=20)
IN_LIST = Canvas(width=96, height=20)
IN_LIST_SMALL = Canvas(width=64, height=20)
IN_TILE = Canvas(width=168, height=20)
IN_PANEL = Canvas(width=176, height=20)


def interval_mark(
    extent: Extent,
    *,
    scale: Scale,
    name: str,
    baseline: float | None = None,
    stands_out: bool = False,
    tone: Literal["better", "worse"] | None = None,
    whisker: tuple[float, float] | None = None,
    canvas: Canvas = IN_TABLE,
    css_class: str = "",
) -> Markup:
    """Draw one estimate. `name` describes what the mark shows.

    `stands_out` draws a diamond instead of a dot, in the colour of errors; a `tone` does so in the
    colour of errors or of correct predictions. `whisker` has the ends of a wider interval. A
    `css_class` is added to those of the mark.
    """
    kind = f"mark mark-{tone}" if tone else "mark mark-out" if stands_out else "mark"
    if whisker is not None:
        kind += " mark-two"
    return drawing(
        _rail(canvas),
        _baseline(baseline, scale, canvas),
        "" if whisker is None else _whisker(whisker, scale, canvas),
        _bar(extent, scale, canvas),
        _point(extent.estimate, scale, canvas, stands_out=stands_out or tone is not None),
        width=canvas.width,
        height=canvas.height,
        css_class=f"{kind} {css_class}".rstrip(),
        name=name,
    )


def _rail(canvas: Canvas) -> str:
    left, right = coordinate(canvas.x(0)), coordinate(canvas.x(1))
    return f'<path class="rail" d="M{left} {coordinate(canvas.middle)}H{right}"/>'


def _baseline(baseline: float | None, scale: Scale, canvas: Canvas) -> str:
    if baseline is None or not 0 <= scale.fraction(baseline) <= 1:
        return ""
    x, bottom = coordinate(canvas.x(scale.fraction(baseline))), coordinate(canvas.height - 1)
    return f'<path class="baseline" d="M{x} 1V{bottom}"/>'


def _bar(extent: Extent, scale: Scale, canvas: Canvas) -> str:
    left, right = scale.clamped(extent.lowest), scale.clamped(extent.highest)
    if left == right:
        return ""
    start, end = coordinate(canvas.x(left)), coordinate(canvas.x(right))
    return f'<path class="bar" d="M{start} {coordinate(canvas.middle)}H{end}"/>'


def _whisker(ends: tuple[float, float], scale: Scale, canvas: Canvas) -> str:
    """A thin line with a tick at each end inside the axis."""
    low, high = ends
    start, end = (canvas.x(scale.clamped(each)) for each in ends)
    top, bottom = coordinate(canvas.middle - 4), coordinate(canvas.middle + 4)
    ticks = "".join(
        f"M{coordinate(x)} {top}V{bottom}"
        for x, each in ((start, low), (end, high))
        if 0 <= scale.fraction(each) <= 1
    )
    line = f"M{coordinate(start)} {coordinate(canvas.middle)}H{coordinate(end)}"
    return f'<path class="whisker" d="{line}{ticks}"/>'


def _point(estimate: float, scale: Scale, canvas: Canvas, *, stands_out: bool) -> str:
    place = scale.fraction(estimate)
    x, y = canvas.x(scale.clamped(estimate)), canvas.middle
    if place < 0:
        return _closed((x - 5, y), (x + 3, y - 4), (x + 3, y + 4))
    if place > 1:
        return _closed((x + 5, y), (x - 3, y - 4), (x - 3, y + 4))
    if stands_out:
        return _closed((x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y))
    return f'<circle class="point" cx="{coordinate(x)}" cy="{coordinate(y)}" r="3.5"/>'


def _closed(*corners: tuple[float, float]) -> str:
    path = "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in corners)
    return f'<path class="point" d="M{path}Z"/>'


Shape = Literal["circle", "square", "triangle", "diamond", "inverted", "plus", "cross", "bar"]

SHAPES: tuple[Shape, ...] = (
    *("circle", "square", "triangle", "diamond"),
    *("inverted", "plus", "cross", "bar"),
)
"""One for each run of a chart, which draws at most this many runs."""
MOST_MARKED = len(SHAPES)
_DASHES = ("", "6 2", "2 2", "7 2 2 2", "1 3", "10 3", "4 4", "8 2 2 2 2 2")
_WIDTH, _HEIGHT = 34, 14


@dataclass(frozen=True, slots=True)
class RunStyle:
    """How a run is drawn; `css_class` gives it a colour, which is shared by the next four runs."""

    shape: Shape
    dash: str
    css_class: str


def run_style(position: int) -> RunStyle:
    """The style of the run at a position less than `MOST_MARKED`."""
    return RunStyle(SHAPES[position], _DASHES[position], f"run-{'abcd'[position % 4]}")


def marker(shape: Shape, x: float, y: float, *, size: float = 4) -> str:
    """A shape around a point, at most `size` CSS pixels in each direction."""
    if shape == "circle":
        return (
            f'<circle class="point" cx="{coordinate(x)}" cy="{coordinate(y)}" '
            f'r="{coordinate(size * 0.9)}"/>'
        )
    return _closed(*((x + size * across, y + size * down) for across, down in _CORNERS[shape]))


def run_mark(position: int, *, name: str) -> Markup:
    """The line and the shape of a run, for legends."""
    style = run_style(position)
    middle = _HEIGHT / 2
    dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
    return drawing(
        f'<path class="bar" d="M1 {coordinate(middle)}H{_WIDTH - 1}"{dash}/>',
        marker(style.shape, _WIDTH / 2, middle, size=5),
        width=_WIDTH,
        height=_HEIGHT,
        css_class=f"mark run-mark {style.css_class}",
        name=name,
    )


_THIN = 0.4
_CORNERS: dict[Shape, tuple[tuple[float, float], ...]] = {
    "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "triangle": ((0, -1), (1, 0.85), (-1, 0.85)),
    "diamond": ((0, -1), (1, 0), (0, 1), (-1, 0)),
    "inverted": ((-1, -0.85), (1, -0.85), (0, 1)),
    "plus": (
        *((-_THIN, -1), (_THIN, -1), (_THIN, -_THIN), (1, -_THIN), (1, _THIN), (_THIN, _THIN)),
        *((_THIN, 1), (-_THIN, 1), (-_THIN, _THIN), (-1, _THIN), (-1, -_THIN), (-_THIN, -_THIN)),
    ),
    "cross": (
        *((-1, -0.6), (-0.6, -1), (0, -_THIN), (0.6, -1), (1, -0.6), (_THIN, 0)),
        *((1, 0.6), (0.6, 1), (0, _THIN), (-0.6, 1), (-1, 0.6), (-_THIN, 0)),
    ),
    "bar": ((-0.45, -1), (0.45, -1), (0.45, 1), (-0.45, 1)),
}


_BAR_HEIGHT = 12


def share_bar(
    share: float, *, name: str, tone: Literal["plain", "error"] = "plain", width: int = 96
) -> Markup:
    """Draw a share in 0..1; a share above zero fills at least one pixel, to remain visible."""
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is not a share")
    filled = max(1.0, share * width) if share > 0 else 0.0
    return drawing(
        f'<rect class="rail-fill" width="{width}" height="{_BAR_HEIGHT}" rx="2"/>',
        f'<rect class="fill" width="{coordinate(filled)}" height="{_BAR_HEIGHT}" rx="2"/>',
        width=width,
        height=_BAR_HEIGHT,
        css_class=f"share-bar share-{tone}",
        name=name,
    )


CHURN_WIDTH, CHURN_HEIGHT = 560, 28
_NARROWEST = 3.0
_LETTER_ROOM = 16.0


@dataclass(frozen=True, slots=True)
class BarPart:
    """One part of the bar; `run_label` is drawn if there is room."""

    count: int
    css_class: str
    run_label: str = ""


def churn_bar(segments: Sequence[BarPart], *, name: str) -> Markup:
    """Draw the segments side by side; one with any examples is at least three pixels wide."""
    total = sum(segment.count for segment in segments)
    if total <= 0:
        raise ValueError("a bar needs at least one example")
    parts, x = [], 0.0
    for segment, width in zip(segments, _widths(segments, total), strict=True):
        if width > 0:
            parts.append(
                f'<rect class="{segment.css_class}" x="{coordinate(x)}" '
                f'width="{coordinate(width)}" height="{CHURN_HEIGHT}"/>'
            )
            if segment.run_label and width >= _LETTER_ROOM:
                parts.append(
                    f'<text class="on-{segment.css_class}" x="{coordinate(x + width / 2)}" '
                    f'y="{CHURN_HEIGHT / 2 + 4:g}" text-anchor="middle">{segment.run_label}</text>'
                )
        x += width
    return drawing(
        *parts, width=CHURN_WIDTH, height=CHURN_HEIGHT, css_class="churn-bar", name=name
    )


def _widths(segments: Sequence[BarPart], total: int) -> list[float]:
    """Widths that add up to the whole bar; the others shrink so that narrow ones stay visible."""
    widths = [CHURN_WIDTH * segment.count / total for segment in segments]
    narrow = [0 < width < _NARROWEST for width in widths]
    missing = sum(
        _NARROWEST - width for width, is_narrow in zip(widths, narrow, strict=True) if is_narrow
    )
    room = sum(width for width, is_narrow in zip(widths, narrow, strict=True) if not is_narrow)
    shrunk = (room - missing) / room
    return [
        _NARROWEST if is_narrow else width * shrunk
        for width, is_narrow in zip(widths, narrow, strict=True)
    ]


STRIP_WIDTH = 760
LANE = 9
_STRIP_MARGIN = 12
_TICKS = (0, 0.25, 0.5, 0.75, 1)
_AXIS_HEIGHT = 14


def class_strip(extents: Sequence[Extent | None], *, name: str) -> Markup:
    """Draw the values of runs in order on an axis from 0 to 1; None leaves a lane empty."""
    height = LANE * len(extents) + 5
    parts = [
        f'<path class="rail" d="M{coordinate(_strip_x(tick))} 0V{height}"/>' for tick in _TICKS
    ]
    for position, extent in enumerate(extents):
        if extent is not None:
            parts.append(_lane(position, extent, y=LANE * position + (LANE + 5) / 2))
    return drawing(*parts, width=STRIP_WIDTH, height=height, css_class="mark strip", name=name)


def strip_axis(*, name: str) -> Markup:
    """The ticks of a strip with their texts, each at its position."""
    texts = (
        f'<text x="{coordinate(_strip_x(tick))}" y="{_AXIS_HEIGHT - 3}" '
        f'text-anchor="middle">{tick:g}</text>'
        for tick in _TICKS
    )
    return drawing(
        *texts, width=STRIP_WIDTH, height=_AXIS_HEIGHT, css_class="mark strip", name=name
    )


def _lane(position: int, extent: Extent, *, y: float) -> str:
    style = run_style(position)
    left, right = (
        coordinate(_strip_x(UNIT.clamped(end))) for end in (extent.lowest, extent.highest)
    )
    dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
    bar = f'<path class="bar" d="M{left} {coordinate(y)}H{right}"{dash}/>' if left != right else ""
    point = marker(style.shape, _strip_x(UNIT.clamped(extent.estimate)), y)
    return f'<g class="{style.css_class}">{bar}{point}</g>'


def _strip_x(fraction: float) -> float:
    return _STRIP_MARGIN + fraction * (STRIP_WIDTH - 2 * _STRIP_MARGIN)
