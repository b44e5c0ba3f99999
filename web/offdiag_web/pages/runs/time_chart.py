"""A metric over time: a line of each model through its runs, with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape

from offdiag_web.charts.svg import Extent, Scale, coordinate, drawing, reading, words
from offdiag_web.components.model_marks import ModelMark, model_point

WIDTH, HEIGHT = 1180, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 16, 26, 26


@dataclass(frozen=True, slots=True)
class TimePoint:
    """A run at the moment it was logged; `name` is what its point says."""

    at: datetime
    extent: Extent
    model: ModelMark
    name: str


def time_chart(points: Sequence[TimePoint], *, scale: Scale, metric: str, name: str) -> Markup:
    """Draw points at their moments, those of a model joined in the order of time.

    `metric` is the title of what they are.
    """
    in_order = sorted(points, key=lambda point: point.at)
    return drawing(
        words(f"{metric}, 95 % CI", x=0, y=12, css_class="tick"),
        *_axes(in_order, scale),
        *_models(in_order, scale),
        width=WIDTH,
        height=HEIGHT,
        css_class="time-chart",
        name=name,
    )


def _axes(points: Sequence[TimePoint], scale: Scale) -> Iterator[str]:
    low, high = scale.ends
    floor = HEIGHT - _BOTTOM
    for text, y in ((high, _TOP), (low, floor)):
        yield f'<path class="grid" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>'
        yield words(text, x=_LEFT - 6, y=y + 4, css_class="tick", anchor="end")
    if points:
        first, last = points[0].at, points[-1].at
        yield words(f"{first.day} {first:%b %Y}", x=_LEFT, y=floor + 18, css_class="tick")
        if first.date() != last.date():
            at = WIDTH - _RIGHT
            text = f"{last.day} {last:%b %Y}"
            yield words(text, x=at, y=floor + 18, css_class="tick", anchor="end")


def _models(points: Sequence[TimePoint], scale: Scale) -> Iterator[str]:
    for mark in dict.fromkeys(point.model for point in points):
        own = [point for point in points if point.model == mark]
        yield f'<g class="{escape(mark.css_class)}">{"".join(_run_line(own, points, scale))}</g>'


def _run_line(
    own: Sequence[TimePoint], points: Sequence[TimePoint], scale: Scale
) -> Iterable[str]:
    places = [(_x(point.at, points), _y(point.extent.estimate, scale)) for point in own]
    if len(places) > 1:
        path = "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in places)
        yield f'<path class="line" d="M{path}"/>'
    for point, (x, y) in zip(own, places, strict=True):
        top, bottom = (_y(end, scale) for end in (point.extent.highest, point.extent.lowest))
        bar = f"M{coordinate(x)} {coordinate(top)}V{coordinate(bottom)}"
        yield (
            f'<g><title>{escape(point.name)}</title><path class="bar" d="{bar}"/>'
            f"{model_point(point.model, x, y)}</g>"
            + reading(
                point.name,
                x,
                y,
                values=(point.at.timestamp() * 1000, point.extent.estimate),
                series=point.model.name or "no model",
            )
        )


def _x(at: datetime, points: Sequence[TimePoint]) -> float:
    first, last = points[0].at, points[-1].at
    room, length = WIDTH - _LEFT - _RIGHT - 16, (last - first).total_seconds()
    share = (at - first).total_seconds() / length if length else 0.5
    return _LEFT + 8 + share * room


def _y(value: float, scale: Scale) -> float:
    return _TOP + (1 - scale.clamped(value)) * (HEIGHT - _TOP - _BOTTOM)
