"""The best value of each issue as a line: gaps stay gaps, nothing is smoothed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from offdiag.reports import wording
from offdiag.reports.axis import Axis, axis_of
from offdiag.reports.drawing import BELOW, TOP, WIDTH, Dot, Drawing, Label, Line, at, short
from offdiag.reports.report import HistoryPoint

_HEIGHT = 180
_LEFT = 70
_RIGHT = 150
_DOT = 3.5


def trend_chart(history: Sequence[HistoryPoint], *, value_title: str) -> Drawing:
    """The best value of each issue with its interval; a gap where there was none."""
    axis = axis_of(point.value for point in history if point.value is not None)
    bottom = TOP + _HEIGHT
    labels = [Label(at(_LEFT - 8), at(_y(place) + 4), text, "end") for place, text in axis.labels]
    lines = [
        Line(at(_LEFT), at(_y(place)), at(WIDTH - _RIGHT), at(_y(place)), "grid")
        for place, _ in axis.labels
    ]
    places = [_issue_x(number, len(history)) for number in range(len(history))]
    for x, point in zip(places, history, strict=True):
        labels.append(Label(at(x), at(bottom + 14), str(point.number), "middle"))
    labels += [
        Label(at(places[-1] / 2 + _LEFT / 2), at(bottom + 34), "issue", "middle", True),
        Label("14", at(_y(0.5)), value_title, "middle", is_title=True, is_upright=True),
    ]
    heights = [_height(axis, point) for point in history]
    lines += _trend_lines(places, heights)
    lines += _spreads(axis, places, history)
    dots = tuple(Dot(at(x), at(y)) for x, y in zip(places, heights, strict=True) if y is not None)
    last = history[-1]
    if last.value is not None and last.run_name is not None and heights[-1] is not None:
        text = f"{wording.shown(last.value)} {short(last.run_name)}"
        labels.append(Label(at(places[-1] + 8), at(heights[-1] + 4), text, "start"))
    name = f"{value_title} of the best run in {wording.count(len(history), 'issue')}"
    return Drawing(WIDTH, bottom + BELOW, name, tuple(lines), dots, tuple(labels))


def _trend_lines(places: Sequence[float], heights: Sequence[float | None]) -> Iterator[Line]:
    points = list(zip(places, heights, strict=True))
    for (x1, y1), (x2, y2) in pairwise(points):
        if y1 is not None and y2 is not None:
            yield Line(at(x1), at(y1), at(x2), at(y2), "trend")


def _spreads(
    axis: Axis, places: Sequence[float], history: Sequence[HistoryPoint]
) -> Iterator[Line]:
    for x, point in zip(places, history, strict=True):
        value = point.value
        if value is not None and value.ci_low is not None and value.ci_high is not None:
            top, low = _y(axis.fraction(value.ci_high)), _y(axis.fraction(value.ci_low))
            yield Line(at(x), at(top), at(x), at(low), "interval")


def _height(axis: Axis, point: HistoryPoint) -> float | None:
    if point.value is None or point.value.value is None:
        return None
    return _y(axis.fraction(point.value.value))


def _issue_x(number: int, of: int) -> float:
    room = WIDTH - _RIGHT - _LEFT - 2 * _DOT
    return _LEFT + _DOT + (room * number / (of - 1) if of > 1 else room)


def _y(fraction: float) -> float:
    return TOP + (1 - fraction) * _HEIGHT
