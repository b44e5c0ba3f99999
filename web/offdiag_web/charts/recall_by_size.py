"""Recall against class size: which classes fail, and which have too few cases to say.

One point for each class, its number of cases on a logarithmic axis, with the interval of its
recall as a whisker. A whisker that lies wholly below the floor is a class that fails; a long
one across it is a class with too few cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag_web.charts.captions import Box, Caption, placed
from offdiag_web.charts.log_scale import LogScale, log_scale_over
from offdiag_web.charts.svg import coordinate, drawing, words

WIDTH, HEIGHT = 420, 260
_FRAME = Box(34.0, 22.0, 408.0, 222.0)
_NAMED = Box(_FRAME.left, _FRAME.top - 8, _FRAME.right, _FRAME.bottom + 8)
"""Where names may stand: also beside points on the borders of the frame."""
_RADIUS = 3.5
_RECALL_TICKS = ("0", "0.25", "0.5", "0.75", "1")


@dataclass(frozen=True, slots=True)
class ClassPoint:
    """A class with at least one case; recall and the ends of its interval lie in [0, 1]."""

    name: str
    cases: int
    recall: float
    low: float
    high: float
    stands_out: bool = False


@dataclass(frozen=True, slots=True)
class Floor:
    """A recall in [0, 1] below which a class gives reason to worry, and what it is called."""

    recall: float
    text: str


def recall_by_size(points: Sequence[ClassPoint], *, floor: Floor | None, name: str) -> Markup:
    """Draw classes; the names of the first ones are the last to be left out for want of room.

    `name` says in words what the chart shows.
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
            "cases of the class (logarithmic)",
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
    """The line is named at its right end, on the side with more room."""
    is_low = floor.recall < 0.5
    return Caption(
        floor.text, _FRAME.right - 2, _y(floor.recall) + (-5 if is_low else 13), anchor="end"
    )


def _whisker(point: ClassPoint, x: float) -> str:
    css = "whisker whisker-out" if point.stands_out else "whisker"
    path = f"M{coordinate(x)} {coordinate(_y(point.low))}V{coordinate(_y(point.high))}"
    return f'<path class="{css}" d="{path}"/>'


def _marker(point: ClassPoint, x: float, y: float) -> str:
    """A dot, or a diamond that tells without colour that a class stands out."""
    if not point.stands_out:
        return f'<circle class="point" cx="{coordinate(x)}" cy="{coordinate(y)}" r="{_RADIUS}"/>'
    corners = ((x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y))
    path = "L".join(f"{coordinate(a)} {coordinate(b)}" for a, b in corners)
    return f'<path class="point point-out" d="M{path}Z"/>'


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
