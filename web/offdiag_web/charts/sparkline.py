"""A line without axes: which way a value went, on a scale of its own."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from offdiag_web.charts.svg import coordinate, drawing

WIDTH = 72
HEIGHT = 20
_MARGIN = 4


def sparkline(values: Sequence[float | None], *, name: str) -> Markup:
    """Draw values from left to right, with gaps where there is None and a dot on the last one.

    The lowest value is at the bottom and the highest at the top; equal values are in the
    middle. `name` says in words what the line shows.
    """
    known = [value for value in values if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    points = [
        None if value is None else (_x(place, len(values)), _y(value, low, high))
        for place, value in enumerate(values)
    ]
    return drawing(
        _line(points),
        *([] if not points or points[-1] is None else [_dot(*points[-1])]),
        width=WIDTH,
        height=HEIGHT,
        css_class="mark spark",
        name=name,
    )


def _line(points: Sequence[tuple[float, float] | None]) -> str:
    path, is_down = [], False
    for point in points:
        if point is not None:
            command = "L" if is_down else "M"
            path.append(f"{command}{coordinate(point[0])} {coordinate(point[1])}")
        is_down = point is not None
    return f'<path class="line" d="{"".join(path)}"/>' if len(path) > 1 else ""


def _dot(x: float, y: float) -> str:
    return f'<circle class="point" cx="{coordinate(x)}" cy="{coordinate(y)}" r="2.5"/>'


def _x(place: int, of: int) -> float:
    room = WIDTH - 2 * _MARGIN
    return _MARGIN + (room * place / (of - 1) if of > 1 else room)


def _y(value: float, low: float, high: float) -> float:
    fraction = (value - low) / (high - low) if high > low else 0.5
    return _MARGIN + (1 - fraction) * (HEIGHT - 2 * _MARGIN)
