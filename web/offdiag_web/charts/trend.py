"""Estimates one after the other in time, each with its interval; nothing is smoothed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from offdiag_web.charts.scale import Extent, Scale
from offdiag_web.charts.svg import coordinate, drawing

_LEFT, _TOP, _PLOT_HEIGHT, _BOTTOM = 40, 8, 84, 8
WIDTH, HEIGHT = 320, _TOP + _PLOT_HEIGHT + _BOTTOM
_RIGHT = 12


def trend(points: Sequence[Extent | None], *, scale: Scale, name: str) -> Markup:
    """Draw points at even distances, oldest left; where there is None the line has a gap."""
    return drawing(
        *_axis(scale),
        *_lines(points, scale),
        *_marks(points, scale),
        width=WIDTH,
        height=HEIGHT,
        css_class="trend",
        name=name,
    )


def _x(index: int, n_points: int) -> float:
    room = WIDTH - _LEFT - _RIGHT
    return _LEFT + (room / 2 if n_points == 1 else 6 + index * (room - 12) / (n_points - 1))


def _y(value: float, scale: Scale) -> float:
    return _TOP + (1 - scale.clamped(value)) * _PLOT_HEIGHT


def _axis(scale: Scale) -> Iterator[str]:
    low, high = scale.ends
    for text, y in ((high, _TOP), (low, _TOP + _PLOT_HEIGHT)):
        yield f'<path class="grid" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>'
        yield f'<text class="tick" x="{_LEFT - 6}" y="{y}" dy="4" text-anchor="end">{text}</text>'


def _lines(points: Sequence[Extent | None], scale: Scale) -> Iterator[str]:
    """One path for each stretch without a gap."""
    stretch: list[str] = []
    for index, point in enumerate((*points, None)):
        if point is not None:
            x, y = _x(index, len(points)), _y(point.estimate, scale)
            stretch.append(f"{coordinate(x)} {coordinate(y)}")
            continue
        if len(stretch) > 1:
            yield f'<path class="line" d="M{"L".join(stretch)}"/>'
        stretch = []


def _marks(points: Sequence[Extent | None], scale: Scale) -> Iterator[str]:
    for index, point in enumerate(points):
        if point is None:
            continue
        x = coordinate(_x(index, len(points)))
        top, bottom = _y(point.highest, scale), _y(point.lowest, scale)
        if top != bottom:
            yield f'<path class="bar" d="M{x} {coordinate(top)}V{coordinate(bottom)}"/>'
        y = coordinate(_y(point.estimate, scale))
        yield f'<circle class="point" cx="{x}" cy="{y}" r="3"/>'
