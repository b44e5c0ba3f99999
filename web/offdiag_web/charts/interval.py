"""An estimate with its interval on a shared axis: the mark used in every table.

Dot = estimate, bar = interval, dashed tick = baseline, arrow head = the estimate lies beyond
that end of the axis. A mark outside is never drawn at the edge as if it were inside. Where an
interval also holds together with others, that one is a thin whisker and the bar a thick one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from offdiag_web.charts.scale import Extent, Scale
from offdiag_web.charts.svg import coordinate, drawing

_MARGIN = 6
"""Pixels kept free at both ends, so that a dot on an end is not cut."""


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
    """Draw one estimate. `name` says in words what the mark shows.

    `stands_out` draws a diamond instead of a dot, in the colour of errors; a `tone` draws one
    in the colour of errors or of right answers. `whisker` has the ends of a wider interval,
    `css_class` another colour.
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
    """A thin line with a tick at each end that lies within the axis."""
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
