"""Estimates below each other on one axis, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain.values import MetricValue
from offdiag.reports import wording
from offdiag.reports.axis import axis_of
from offdiag.reports.drawing import (
    BELOW,
    TOP,
    WIDTH,
    Dot,
    Drawing,
    Label,
    Line,
    LineKind,
    at,
    short,
)

_ROW = 22
_LABELS = 190
"""Room for names left of the axis."""
_RIGHT = 24


def interval_chart(
    rows: Sequence[tuple[str, MetricValue]],
    *,
    value_title: str,
    row_title: str,
    baseline: float | None = None,
) -> Drawing:
    """One row for each estimate: a dot and its interval, undefined values in words.

    `baseline` is marked by a dashed line, and drawn only where the axis reaches.
    """
    axis = axis_of(value for _, value in rows)
    bottom = TOP + _ROW * len(rows)
    lines = [_vertical(_x(place), bottom, "grid") for place, _ in axis.labels]
    if baseline is not None and 0 <= axis.fraction(baseline) <= 1:
        lines.append(_vertical(_x(axis.fraction(baseline)), bottom, "baseline"))
    labels = [Label(at(_x(place)), at(bottom + 14), text, "middle") for place, text in axis.labels]
    middle = (_LABELS + WIDTH - _RIGHT) / 2
    labels.append(Label(at(middle), at(bottom + 34), value_title, "middle", is_title=True))
    labels.append(Label("0", at(bottom + 34), row_title, "start", is_title=True))
    dots = []
    for number, (name, value) in enumerate(rows):
        y = TOP + _ROW * (number + 0.5)
        labels.append(Label("0", at(y + 4), short(name), "start"))
        if value.value is None:
            labels.append(Label(at(_LABELS + 6), at(y + 4), wording.shown(value), "start"))
            continue
        dots.append(Dot(at(_x(axis.fraction(value.value))), at(y)))
        if value.ci_low is not None and value.ci_high is not None:
            ends = (_x(axis.fraction(end)) for end in (value.ci_low, value.ci_high))
            left, right = (at(end) for end in ends)
            lines.append(Line(left, at(y), right, at(y), "interval"))
    name = f"{value_title} of {wording.count(len(rows), row_title)}, each with its interval"
    return Drawing(WIDTH, bottom + BELOW, name, tuple(lines), tuple(dots), tuple(labels))


def _vertical(x: float, bottom: float, kind: LineKind) -> Line:
    return Line(at(x), at(TOP), at(x), at(bottom), kind)


def _x(fraction: float) -> float:
    return _LABELS + fraction * (WIDTH - _RIGHT - _LABELS)
