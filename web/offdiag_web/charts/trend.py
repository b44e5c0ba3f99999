"""Values over time: a small sparkline, or a larger trend with intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from markupsafe import Markup

from offdiag.domain.number_text import number
from offdiag_web.charts.svg import Extent, Scale, broken_line, coordinate, drawing, readable

_LEFT, _TOP, _PLOT_HEIGHT, _BOTTOM = 40, 8, 84, 8
WIDTH, HEIGHT = 320, _TOP + _PLOT_HEIGHT + _BOTTOM
_RIGHT = 12


def trend(
    points: Sequence[Extent | None], *, scale: Scale, name: str, ringed: Collection[int] = ()
) -> Markup:
    """Draw points at equal distances, oldest left; None leaves a gap in the line.

    Points at the positions in `ringed` have a ring in the colour of errors.
    """
    return drawing(
        *_axis(scale),
        _line(
            None if point is None else (_x(index, len(points)), _y(point.estimate, scale))
            for index, point in enumerate(points)
        ),
        *_marks(points, scale),
        *_rings(points, scale, ringed),
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


def _line(points: Iterable[tuple[float, float] | None]) -> str:
    path = broken_line(points)
    return f'<path class="line" d="{path}"/>' if path else ""


def _axis(scale: Scale) -> Iterator[str]:
    low, high = scale.ends
    for text, y in ((high, _TOP), (low, _TOP + _PLOT_HEIGHT)):
        yield f'<path class="grid" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>'
        yield f'<text class="tick" x="{_LEFT - 6}" y="{y}" dy="4" text-anchor="end">{text}</text>'


def _marks(points: Sequence[Extent | None], scale: Scale) -> Iterator[str]:
    for index, point in enumerate(points):
        if point is None:
            continue
        x = coordinate(_x(index, len(points)))
        top, bottom = _y(point.highest, scale), _y(point.lowest, scale)
        if top != bottom:
            yield f'<path class="bar" d="M{x} {coordinate(top)}V{coordinate(bottom)}"/>'
        y = coordinate(_y(point.estimate, scale))
        text = f"run {index + 1} of {len(points)}: {number(point.estimate)}"
        if top != bottom:
            text += f" ({number(point.lowest)} to {number(point.highest)})"
        dot = f'<circle class="point" cx="{x}" cy="{y}" r="3"/>'
        yield readable(dot, text, x=index + 1, y=point.estimate)


def _rings(
    points: Sequence[Extent | None], scale: Scale, places: Collection[int]
) -> Iterator[str]:
    for index, point in enumerate(points):
        if point is not None and index in places:
            at = _x(index, len(points)), _y(point.estimate, scale)
            x, y = map(coordinate, at)
            yield f'<circle class="ring" cx="{x}" cy="{y}" r="7"/>'


SPARKLINE_WIDTH = 72
SPARKLINE_HEIGHT = 20
_SPARKLINE_MARGIN = 4


def sparkline(
    values: Sequence[float | None], *, name: str, ringed: Collection[int] = ()
) -> Markup:
    """Draw values from left to right, with gaps for None and a dot on the last one.

    Points at the positions in `ringed` have a ring in the colour of errors. The lowest value is at
    the bottom and the highest at the top; equal values are in the middle. `name` describes what
    the line shows.
    """
    known = [value for value in values if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    points = [
        None if value is None else (_step_x(place, len(values)), _line_y(value, low, high))
        for place, value in enumerate(values)
    ]
    return drawing(
        _line(points),
        *(
            _ringed_dot(*point) if place in ringed else _dot(*point)
            for place, point in enumerate(points)
            if point is not None and (place in ringed or place == len(points) - 1)
        ),
        width=SPARKLINE_WIDTH,
        height=SPARKLINE_HEIGHT,
        css_class="mark spark",
        name=name,
    )


def _dot(x: float, y: float) -> str:
    return f'<circle class="point" cx="{coordinate(x)}" cy="{coordinate(y)}" r="2.5"/>'


_RINGED = (("point", 2), ("ring", 3.5))


def _ringed_dot(x: float, y: float) -> str:
    at = f'cx="{coordinate(x)}" cy="{coordinate(y)}"'
    inner, outer = (f'<circle class="{name}" {at} r="{r}"/>' for name, r in _RINGED)
    return f'<g class="dropped">{inner}{outer}</g>'


def _step_x(place: int, of: int) -> float:
    room = SPARKLINE_WIDTH - 2 * _SPARKLINE_MARGIN
    return _SPARKLINE_MARGIN + (room * place / (of - 1) if of > 1 else room)


def _line_y(value: float, low: float, high: float) -> float:
    fraction = (value - low) / (high - low) if high > low else 0.5
    return _SPARKLINE_MARGIN + (1 - fraction) * (SPARKLINE_HEIGHT - 2 * _SPARKLINE_MARGIN)
