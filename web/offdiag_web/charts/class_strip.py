"""One class under several runs: a dot and a Wilson bar for each, one lane below the other."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from offdiag_web.charts.run_mark import marker, run_style
from offdiag_web.charts.scale import UNIT, Extent
from offdiag_web.charts.svg import coordinate, drawing

WIDTH = 260
LANE = 9
_MARGIN = 12
_TICKS = (0, 0.25, 0.5, 0.75, 1)
_AXIS_HEIGHT = 14


def class_strip(extents: Sequence[Extent | None], *, name: str) -> Markup:
    """Draw the values of runs in their order on an axis from 0 to 1; None leaves a lane empty."""
    height = LANE * len(extents) + 5
    parts = [f'<path class="rail" d="M{coordinate(_x(tick))} 0V{height}"/>' for tick in _TICKS]
    for position, extent in enumerate(extents):
        if extent is not None:
            parts.append(_lane(position, extent, y=LANE * position + (LANE + 5) / 2))
    return drawing(*parts, width=WIDTH, height=height, css_class="mark strip", name=name)


def strip_axis(*, name: str) -> Markup:
    """The ticks of a strip with their texts, each at its place."""
    texts = (
        f'<text x="{coordinate(_x(tick))}" y="{_AXIS_HEIGHT - 3}" '
        f'text-anchor="middle">{tick:g}</text>'
        for tick in _TICKS
    )
    return drawing(*texts, width=WIDTH, height=_AXIS_HEIGHT, css_class="mark strip", name=name)


def _lane(position: int, extent: Extent, *, y: float) -> str:
    style = run_style(position)
    left, right = (coordinate(_x(UNIT.clamped(end))) for end in (extent.lowest, extent.highest))
    dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
    bar = f'<path class="bar" d="M{left} {coordinate(y)}H{right}"{dash}/>' if left != right else ""
    point = marker(style.shape, _x(UNIT.clamped(extent.estimate)), y)
    return f'<g class="{style.css_class}">{bar}{point}</g>'


def _x(fraction: float) -> float:
    return _MARGIN + fraction * (WIDTH - 2 * _MARGIN)
