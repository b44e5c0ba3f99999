"""Scatter plot of the runs of a dataset: an average against the worst class, or the cost.

Names are placed next to the points without overlapping.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from typing import Literal

from markupsafe import Markup, escape

from offdiag_web.charts.plot import (
    Frame,
    box,
    grid,
    name_across,
    name_up,
    ticks_across,
    ticks_of,
    ticks_up,
)
from offdiag_web.charts.recall_by_size import Box
from offdiag_web.charts.svg import (
    Extent,
    Scale,
    coordinate,
    drawing,
    linked,
    reading,
    spanning,
    words,
)
from offdiag_web.components.model_marks import ModelMark, model_letter, model_shape

WIDTH, HEIGHT = 660, 458
FRAME = Frame(left=44, top=38, width=600, height=376)
MOST_NAMED = 5
_SIZE = 5
_ROOM = 13
"""Pixels between a dot and the middle of a line of text."""
_MINORITY_ROOM = 330
"""Pixels from the right end of the frame that the name of the area may occupy."""
_MINORITY = "Hidden minority: good average, one class missed"
_MINORITY_IN_SHORT = "Hidden minority"
FAIR_AVERAGE, MISSED_CLASS = 0.5, 0.25
"""With at least this average, and at most this recall, a good average hides a missed class."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A run. `name` is written next to it if there is room, `description` is its full text."""

    mark: ModelMark
    across: Extent
    up: float
    is_in_set: bool
    is_champion: bool
    url: str
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Axes:
    """The titles of both axes; `shows_minority` if they are an average and a recall.

    The ranges are those of the metrics.
    """

    across: str
    up: str
    shows_minority: bool
    across_range: tuple[float, float] = (-inf, inf)
    up_range: tuple[float, float] = (-inf, inf)


def scatter(dots: Sequence[Dot], axes: Axes, *, name: str) -> Markup:
    """Draw the runs, those of the best set last so that nothing covers them.

    Each is a link. The runs to be named come first in `dots`.
    """
    ends = [end for dot in dots for end in (dot.across.lowest, dot.across.highest)]
    across = spanning(ends, steps=6)
    up = spanning([dot.up for dot in dots] + ([0.0] if axes.shows_minority else []), steps=6)
    across, up = _within(across, axes.across_range), _within(up, axes.up_range)
    across_ticks, up_ticks = ticks_of(across), ticks_of(up)
    in_order = sorted(dots, key=lambda dot: (dot.is_champion, dot.is_in_set, -dot.across.estimate))
    minority, lines = _minority(dots, across, up) if axes.shows_minority else ((), ())
    return drawing(
        box(FRAME),
        *minority,
        grid(FRAME, across=across_ticks, up=up_ticks),
        *ticks_across(FRAME, across_ticks),
        *ticks_up(FRAME, up_ticks),
        name_across(FRAME, f"{axes.across}, 95 % CI"),
        name_up(FRAME, axes.up),
        *(_dot(dot, across, up) for dot in in_order),
        *_names(dots, across, up, lines=lines),
        width=WIDTH,
        height=HEIGHT,
        css_class="scatter",
        name=name,
        role="group",
    )


def _within(scale: Scale, bounds: tuple[float, float]) -> Scale:
    """A scale cut to the possible values; around a single value it would extend beyond them."""
    low, high = map(Decimal, bounds)
    return Scale(max(scale.low, low), min(scale.high, high))


def _minority(
    dots: Sequence[Dot], across: Scale, up: Scale
) -> tuple[Sequence[str], Sequence[tuple[float, float, float]]]:
    """The area with a good average and a missed class, and the position of its name."""
    left = max(across.fraction(FAIR_AVERAGE), 0.0)
    top = min(up.fraction(MISSED_CLASS), 1.0)
    if left >= 1 or top <= 0:
        return (), ()
    x, y = FRAME.x(left), FRAME.y(top)
    width, height = FRAME.right - x, FRAME.bottom - y
    area = f'width="{coordinate(width)}" height="{coordinate(height)}"'
    line = _free(dots, across, up, between=(y + 14, FRAME.bottom - 6))
    drawn = (
        f'<rect class="minority" x="{coordinate(x)}" y="{coordinate(y)}" {area}/>',
        *(
            words(
                text, x=FRAME.right - 6, y=line, css_class=f"minority-name {where}", anchor="end"
            )
            for text, where in ((_MINORITY, WIDE.css_class), (_MINORITY_IN_SHORT, PHONE.css_class))
        ),
    )
    return drawn, [(FRAME.right - _MINORITY_ROOM, FRAME.right, line)]


def _free(dots: Sequence[Dot], across: Scale, up: Scale, *, between: tuple[float, float]) -> float:
    """The first line from the top without a dot, or the line furthest from any dot."""
    top, bottom = between
    left = FRAME.right - _MINORITY_ROOM
    taken = [y for _, right, y in (_bar(dot, across, up) for dot in dots) if right > left]
    lines = [top + step for step in range(0, max(int(bottom - top), 0) + 1, 4)]

    def room(at: float) -> float:
        return min((abs(at - 4 - y) for y in taken), default=_ROOM + 1)

    return next((at for at in lines if room(at) > _ROOM), max(lines, key=room))


def _dot(dot: Dot, across: Scale, up: Scale) -> str:
    x, y = _place(dot, across, up)
    left, right, _ = _bar(dot, across, up)
    bar = f'<path class="bar" d="M{coordinate(left)} {coordinate(y)}H{coordinate(right)}"/>'
    point = model_shape(dot.mark, x, y, size=_SIZE)
    ring = (
        f'<circle class="champion-ring" cx="{coordinate(x)}" cy="{coordinate(y)}" r="9"/>'
        if dot.is_champion
        else ""
    )
    css_class = (
        f"dot in-set {dot.mark.css_class}" if dot.is_in_set else f"dot {dot.mark.css_class}"
    )
    title = f"<title>{escape(dot.description)}</title>"
    return linked(
        f"{title}{bar if left != right else ''}{point}{ring}"
        + reading(dot.description, x, y, values=(dot.across.estimate, dot.up)),
        url=dot.url,
        css_class=css_class,
        name=dot.description,
    ) + model_letter(dot.mark, x, y, size=_SIZE)


def _names(
    dots: Sequence[Dot], across: Scale, up: Scale, *, lines: Sequence[tuple[float, float, float]]
) -> list[str]:
    """The names for wide screens and for phones, on which letters need more room."""
    names = [
        Name(dot.name, *_place(dot, across, up))
        for dot in [d for d in dots if d.name][:MOST_NAMED]
    ]
    points = [_place(dot, across, up) for dot in dots]
    bars = [_bar(dot, across, up) for dot in dots]
    return [
        text
        for letters in (WIDE, PHONE)
        for text in placed_names(
            names, FRAME, points=points, lines=lines, bars=bars, letters=letters
        )
    ]


def _bar(dot: Dot, across: Scale, up: Scale) -> tuple[float, float, float]:
    """The left and right ends of the interval, and its vertical position."""
    left, right = (FRAME.x(across.clamped(end)) for end in (dot.across.lowest, dot.across.highest))
    return left, right, _place(dot, across, up)[1]


def _place(dot: Dot, across: Scale, up: Scale) -> tuple[float, float]:
    return FRAME.x(across.clamped(dot.across.estimate)), FRAME.y(up.clamped(dot.up))


Anchor = Literal["start", "end"]
_BETWEEN_NAMES = 8.0
_CLEARLY_NEARER = 6.0
"""Pixels by which a name is nearer to its own point than to any other."""
_BESIDE = 16.0
"""Pixels up to which a name needs no line to its point."""


@dataclass(frozen=True, slots=True)
class Letters:
    """The width of a letter and the height of a line, in pixels of the picture."""

    css_class: str
    width: float
    height: float


WIDE = Letters("wide-only", 6.3, 13.0)
PHONE = Letters("phone-only", 12.6, 23.0)
"""On phones the picture is half as large."""


@dataclass(frozen=True, slots=True)
class Name:
    """The text next to a point, and the point, in CSS pixels."""

    text: str
    x: float
    y: float


def placed_names(
    names: Sequence[Name],
    frame: Frame,
    *,
    points: Iterable[tuple[float, float]],
    lines: Iterable[tuple[float, float, float]] = (),
    bars: Iterable[tuple[float, float, float]] = (),
    letters: Letters = WIDE,
) -> list[str]:
    """Each name at the first free position around its point; left out if there is none.

    A position is free only if no other point is about as near as the name's own one, to which it
    would seem to belong. `lines` are texts that are already there: left and right ends and
    baseline; `bars` are intervals, which no name may cover.
    """
    points, height = list(points), letters.height
    taken = [Box(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    taken += [Box(left, y - height + 3, right, y + 3) for left, right, y in lines]
    taken += [Box(left, y - 1, right, y + 1) for left, right, y in bars]
    written = []
    for name in names:
        others = [point for point in points if point != (name.x, name.y)]
        width = letters.width * len(name.text)
        for x, y, anchor in _around(name, more=height - WIDE.height):
            left = x - width if anchor == "end" else x
            box = Box(left, y - height + 3, left + width + _BETWEEN_NAMES, y + 3)
            is_inside = frame.left <= left and left + width <= frame.right + 8
            is_inside = is_inside and frame.top <= box.top and box.bottom <= frame.bottom
            written_at = Box(left, box.top, left + width, box.bottom)
            own = written_at.distance(name.x, name.y)
            is_its_own = all(written_at.distance(*each) > own + _CLEARLY_NEARER for each in others)
            if is_inside and is_its_own and not any(box.overlaps(each) for each in taken):
                taken.append(box)
                css_class = f"direct {letters.css_class}"
                text = words(name.text, x=x, y=y, css_class=css_class, anchor=anchor)
                written.append(text + _leader(name, written_at, letters))
                break
    return written


def _leader(name: Name, box: Box, letters: Letters) -> str:
    """A line from a point to its name, if the name is not next to it."""
    if box.distance(name.x, name.y) <= _BESIDE:
        return ""
    x = min(max(name.x, box.left), box.right)
    y = box.bottom if box.bottom < name.y else box.top
    ends = f"M{coordinate(name.x)} {coordinate(name.y)}L{coordinate(x)} {coordinate(y)}"
    return f'<path class="leader {letters.css_class}" d="{ends}"/>'


def _around(name: Name, *, more: float) -> Iterable[tuple[float, float, Anchor]]:
    x, y = name.x, name.y
    for away in (0.0, 14.0, 28.0, 42.0):
        yield x + 9, y - 9 - away, "start"
        yield x - 9, y - 9 - away, "end"
        yield x + 9, y + 17 + more + away, "start"
        yield x - 9, y + 17 + more + away, "end"
