"""Learning curves: the mean of each method over the number of training examples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import log

from markupsafe import Markup

from offdiag.services.methods.estimates import Method
from offdiag_web.charts.plot import (
    Frame,
    Tick,
    box,
    grid,
    line,
    name_across,
    name_up,
    ticks_across,
    ticks_of,
    ticks_up,
)
from offdiag_web.charts.svg import Scale, coordinate, drawing, reading, spanning
from offdiag_web.components import numbers
from offdiag_web.components.model_marks import (
    ModelMark,
    model_marks,
    model_point,
    names_at_ends,
)
from offdiag_web.components.numbers import extent_of, interval_text

WIDTH, HEIGHT = 860, 300
FRAME = Frame(left=44, top=28, width=WIDTH - 240, height=HEIGHT - 68)
_INSET, _BETWEEN_TICKS = 0.04, 52
"""Share of the width left free at both ends; pixels from one text below to the next."""
_APART = 3
"""Pixels between the marks of methods at one size, so that their bars stay readable."""


def curves_drawing(points: Sequence[Method], *, metric: str) -> Markup:
    """Draw methods with their sizes in order, sizes on a logarithmic axis; none is unknown."""
    curves = [list(of) for _, of in groupby(points, key=lambda each: each.name)]
    marks = model_marks(curve[0].name for curve in curves)
    sizes = sorted({_size(each) for each in points})
    extents = [extent for each in points if (extent := extent_of(each.mean)) is not None]
    scale = spanning([end for each in extents for end in (each.lowest, each.highest)], steps=6)
    up = ticks_of(scale)
    drawn = [
        _curve(curve, marks[curve[0].name], sizes, scale, shift=(at - (len(curves) - 1) / 2))
        for at, curve in enumerate(curves)
    ]
    ends = [
        (marks[curve[-1].name], FRAME.y(scale.clamped(curve[-1].mean.value or 0.0)))
        for curve in curves
    ]
    return drawing(
        box(FRAME),
        grid(FRAME, up=up),
        *ticks_up(FRAME, up),
        *ticks_across(FRAME, _ticks(sizes)),
        name_across(FRAME, "training size (logarithmic)"),
        name_up(FRAME, metric),
        *drawn,
        *names_at_ends(ends, x=FRAME.right + 10, lowest=HEIGHT - 4),
        width=WIDTH,
        height=HEIGHT,
        css_class="model-trend by-size",
        name=f"{metric} of {numbers.plural(len(curves), 'method')} over training size",
    )


def size_text(size: float) -> str:
    """A training size: "1,500", or a share such as "0.25"."""
    return f"{size:,.0f}" if size == int(size) else f"{size:,g}"


def _size(method: Method) -> float:
    if method.train_size is None:
        raise ValueError(f"{method.name} has no training size")
    return method.train_size


def _share(size: float, sizes: Sequence[float]) -> float:
    if len(sizes) < 2:
        return 0.5
    along = log(size / sizes[0]) / log(sizes[-1] / sizes[0])
    return _INSET + (1 - 2 * _INSET) * along


def _ticks(sizes: Sequence[float]) -> list[Tick]:
    """The sizes themselves, from the largest down as far as their texts have room."""
    found: list[Tick] = []
    for size in reversed(sizes):
        at = _share(size, sizes)
        if not found or (found[-1][1] - at) * FRAME.width >= _BETWEEN_TICKS:
            found.append((size_text(size), at))
    return found


def _curve(
    curve: Sequence[Method], mark: ModelMark, sizes: Sequence[float], scale: Scale, *, shift: float
) -> str:
    aside = shift * _APART / FRAME.width
    places = []
    drawn = []
    for each in curve:
        extent = extent_of(each.mean)
        if extent is None:
            continue
        across, up = _share(_size(each), sizes) + aside, scale.clamped(extent.estimate)
        places.append((across, up))
        x, y = FRAME.x(across), FRAME.y(up)
        top, bottom = (FRAME.y(scale.clamped(end)) for end in (extent.highest, extent.lowest))
        if top != bottom:
            drawn.append(
                f'<path class="line" d="M{coordinate(x)} {coordinate(top)}V{coordinate(bottom)}"/>'
            )
        drawn.append(model_point(mark, x, y))
        interval = interval_text(each.mean)
        text = (
            f"{each.name}, training size {size_text(_size(each))}: "
            f"{numbers.metric(extent.estimate)}{f' ({interval})' if interval else ''}"
        )
        values = (_size(each), extent.estimate)
        drawn.append(reading(text, x, y, values=values, series=each.name))
    return f'<g class="{mark.css_class}">{line(FRAME, places, "line")}{"".join(drawn)}</g>'
