"""The mark of a run in charts: a shape and a line, so that colour never has to tell runs apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from offdiag_web.charts.svg import coordinate, drawing

Shape = Literal["circle", "square", "triangle", "diamond", "turned", "plus", "cross", "bar"]

SHAPES: tuple[Shape, ...] = (
    *("circle", "square", "triangle", "diamond"),
    *("turned", "plus", "cross", "bar"),
)
"""One for each run of a chart, which draws no more than these."""
MOST_MARKED = len(SHAPES)
_DASHES = ("", "6 2", "2 2", "7 2 2 2", "1 3", "10 3", "4 4", "8 2 2 2 2 2")
_WIDTH, _HEIGHT = 34, 14


@dataclass(frozen=True, slots=True)
class RunStyle:
    """How a run is drawn; `css_class` gives it a colour, which the next four runs share."""

    shape: Shape
    dash: str
    css_class: str


def run_style(position: int) -> RunStyle:
    """The style of the run at a position below `MOST_MARKED`."""
    return RunStyle(SHAPES[position], _DASHES[position], f"run-{'abcd'[position % 4]}")


def marker(shape: Shape, x: float, y: float, *, size: float = 4) -> str:
    """A shape around a point, `size` CSS pixels in each direction at most."""
    if shape == "circle":
        return (
            f'<circle class="point" cx="{coordinate(x)}" cy="{coordinate(y)}" '
            f'r="{coordinate(size * 0.9)}"/>'
        )
    corners = "L".join(
        f"{coordinate(x + size * across)} {coordinate(y + size * down)}"
        for across, down in _CORNERS[shape]
    )
    return f'<path class="point" d="M{corners}Z"/>'


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
    "turned": ((-1, -0.85), (1, -0.85), (0, 1)),
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
