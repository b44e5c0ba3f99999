"""Cost of each threshold on a score: a step line with its lowest point ringed.

A threshold only matters where there is a score, so the line is level in between. Costs far above
the cheapest would flatten the line, so the frame ends near the costs that are compared; the line
leaves it at the top where costs are higher, and a text says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag_web.charts.plot import (
    Frame,
    Tick,
    beside,
    box,
    grid,
    name_across,
    ring,
    step_line,
    ticks_across,
    ticks_of,
    ticks_up,
)
from offdiag_web.charts.svg import (
    UNIT,
    Scale,
    coordinate,
    drawing,
    reading,
    spanning,
    tidy_at_least,
    words,
)

WIDTH, HEIGHT = 860, 320
FRAME = Frame(left=56, top=30, width=660, height=240)
_LINE_HEIGHT = 14
_STEPS = 5
_MOST_READ = 100
_FAR_BEYOND = 2.5
"""The frame is cut if the highest cost is this many times further from the lowest than others."""
_ROOM_ABOVE = 1.5
_ROUNDING = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mark:
    """A threshold with a name; `cost` is what it costs."""

    text: str
    threshold: float
    cost: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class CostLine:
    """Thresholds (n,), strictly decreasing, and the cost of each, (n,); both finite.

    The first flags nothing and the last everything. `best` is ringed, with its interval; `text`
    formats a threshold.
    """

    thresholds: Floats
    costs: Floats
    best: Mark
    others: tuple[Mark, ...]
    text: Callable[[float], str]
    are_probabilities: bool


def threshold_cost_chart(
    line: CostLine, *, x_title: str, y_title: str, nothing: str, everything: str, name: str
) -> Markup:
    """Draw the line. `nothing` and `everything` say what its two ends cost."""
    across, up = _axes(line)
    x_ticks, y_ticks = (ticks_of(scale, steps=_STEPS, form=",f") for scale in (across, up))
    ends = [(nothing, float(line.costs[0])), (everything, float(line.costs[-1]))]
    return drawing(
        grid(FRAME, across=_inner(x_ticks), up=_inner(y_ticks)),
        box(FRAME),
        *ticks_across(FRAME, x_ticks),
        *ticks_up(FRAME, y_ticks),
        name_across(FRAME, x_title),
        words(y_title, x=0, y=14, css_class="axis-name"),
        *(_level(cost, up) for _, cost in ends),
        *(step_line(FRAME, piece, "curve") for piece in _pieces(line, across, up)),
        *_upright(line.others, across),
        *_best(line.best, across, up),
        *_names(ends, up),
        *_readings(line, across, up),
        width=WIDTH,
        height=HEIGHT,
        css_class="plot cost-plot",
        name=name,
    )


def _axes(line: CostLine) -> tuple[Scale, Scale]:
    marks = (line.best, *line.others)
    thresholds = [min(mark.threshold, float(line.thresholds[0])) for mark in marks]
    if line.are_probabilities:
        largest = max(thresholds)
        # Rare classes are decided near 0, and would have no room on an axis up to 1.
        across = UNIT if largest > 0.2 else Scale(Decimal(0), tidy_at_least(largest * 2 or 0.01))
    else:
        across = spanning([*line.thresholds[[0, -1]].tolist(), *thresholds])
    lowest, highest = float(line.costs.min()), float(line.costs.max())
    compared = max(
        [min(float(line.costs[0]), float(line.costs[-1]))]
        + [mark.cost for mark in marks]
        + [mark.high for mark in marks if mark.high is not None]
    )
    low = min(lowest, *(mark.low for mark in marks if mark.low is not None), lowest)
    top = highest
    if highest - low > _FAR_BEYOND * (compared - low) > 0:
        top = low + _ROOM_ABOVE * (compared - low)
    foot = 0.0 if 0 <= low < 0.6 * top else low
    top = max(top, compared)
    # If all costs are equal, sums of floats may still differ in their last digits.
    return across, spanning([top] if math.isclose(foot, top, rel_tol=_ROUNDING) else [foot, top])


def _inner(ticks: Sequence[Tick]) -> list[Tick]:
    return [tick for tick in ticks if 0 < tick[1] < 1]


def _pieces(line: CostLine, across: Scale, up: Scale) -> Iterator[list[tuple[float, float]]]:
    """The line in shares of the frame, from the left, in as many pieces as are inside."""
    # In order of rising thresholds, each cost holds from the previous threshold up to its own.
    rights = np.append(np.clip(across_fractions(line.thresholds[1:], across), 0, 1)[::-1], 1.0)
    heights = line.costs[::-1]
    piece: list[tuple[float, float]] = []
    left = 0.0
    for right, cost in zip(rights.tolist(), heights.tolist(), strict=True):
        if right <= left and right < 1:
            continue
        height = up.fraction(cost)
        if height > 1:
            if piece:
                yield [*piece, (left, 1.0)]
            piece = []
        else:
            if not piece:
                piece = [(left, height if left == 0.0 else 1.0), (left, height)]
            piece.append((right, height))
        left = right
    if piece:
        yield piece


def _readings(line: CostLine, across: Scale, up: Scale) -> Iterator[str]:
    """What thresholds inside the frame cost, at intervals if there are many."""
    places = across_fractions(line.thresholds, across)
    heights = np.array([up.fraction(cost) for cost in line.costs.tolist()])
    inside = np.flatnonzero((places >= 0) & (places <= 1) & (heights >= 0) & (heights <= 1))
    for at in inside[:: max(1, len(inside) // _MOST_READ)].tolist():
        threshold, cost = float(line.thresholds[at]), float(line.costs[at])
        x, y = FRAME.x(float(places[at])), FRAME.y(float(heights[at]))
        yield reading(f"from {line.text(threshold)}: {cost:,.4g}", x, y, values=(threshold, cost))


def across_fractions(thresholds: Floats, across: Scale) -> Floats:
    """Positions of thresholds on an axis; outside 0 to 1 if beyond its ends."""
    low, high = float(across.low), float(across.high)
    return np.asarray((thresholds - low) / (high - low))


def _level(cost: float, up: Scale) -> str:
    height = up.fraction(cost)
    if not 0 <= height <= 1:
        return ""
    y = coordinate(FRAME.y(height))
    return f'<path class="no-skill" d="M{FRAME.left} {y}H{FRAME.right}"/>'


def _upright(marks: Sequence[Mark], across: Scale) -> Iterator[str]:
    """A vertical line at each threshold within the axis, with its name at the top of the frame."""
    for row, mark in enumerate(marks):
        share = across.fraction(mark.threshold)
        if not 0 <= share <= 1:
            continue
        x = FRAME.x(share)
        yield f'<path class="threshold" d="M{coordinate(x)} {FRAME.top}V{FRAME.bottom}"/>'
        yield beside(FRAME, share, mark.text, y=FRAME.top + 12 + row * _LINE_HEIGHT)


def _best(mark: Mark, across: Scale, up: Scale) -> Iterator[str]:
    share = across.clamped(mark.threshold)
    if mark.low is not None and mark.high is not None:
        x = coordinate(FRAME.x(share))
        low, high = (coordinate(FRAME.y(up.clamped(end))) for end in (mark.low, mark.high))
        yield f'<path class="whisker" d="M{x} {low}V{high}"/>'
    yield ring(FRAME, share, up.clamped(mark.cost), mark.text)


def _names(ends: Sequence[tuple[str, float]], up: Scale) -> Iterator[str]:
    """Names right of the frame without overlaps; those of marks above the frame are at its top."""
    falling = sorted(ends, key=lambda end: -end[1])
    places = [max(FRAME.y(min(up.fraction(cost), 1.0)) + 4, FRAME.top + 4) for _, cost in falling]
    for above, below in pairwise(range(len(places))):
        places[below] = max(places[below], places[above] + _LINE_HEIGHT)
    overhang = max(places[-1] - FRAME.bottom, 0.0)
    for (text, cost), y in zip(falling, places, strict=True):
        arrow = " ↑" if up.fraction(cost) > 1 else ""
        yield words(f"{text}{arrow}", x=FRAME.right + 6, y=y - overhang, css_class="direct quiet")
