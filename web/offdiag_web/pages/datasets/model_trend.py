"""How the runs of each model of a dataset did over time, with its label versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from offdiag_web.charts.plot import (
    Frame,
    box,
    grid,
    line,
    ring,
    ticks_across,
    ticks_of,
    ticks_up,
)
from offdiag_web.charts.svg import Extent, Scale, coordinate, drawing, reading, spanning, words
from offdiag_web.components.model_marks import ModelMark, model_point, names_at_ends

WIDTH, WHOLE_WIDTH, HEIGHT = 860, 1240, 300
"""Beside another card, across the page, and the height of both."""
_LEFT, _TOP, _FOR_NAMES = 44, 14, 196
MOST_BANDS = 4
"""Models whose intervals are drawn as bands; more would only cover each other."""
_DATES = 5


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run of a model; `told` is what its point says."""

    run_id: str
    at: datetime
    value: Extent
    told: str


@dataclass(frozen=True, slots=True)
class ModelTrend:
    """A model with its runs, oldest first."""

    mark: ModelMark
    points: tuple[TrendPoint, ...]


def model_trend(
    trends: Sequence[ModelTrend],
    versions: Sequence[tuple[str, datetime]],
    *,
    dropped: str | None,
    name: str,
    width: int = WIDTH,
) -> Markup:
    """Draw a line for each model; `dropped` is the run with a ring around it."""
    frame = Frame(left=_LEFT, top=_TOP, width=width - _LEFT - _FOR_NAMES, height=HEIGHT - 50)
    points = [point for trend in trends for point in trend.points]
    times = [point.at for point in points]
    span = _Span(min(times), max(times))
    scale = spanning(
        [end for each in points for end in (each.value.lowest, each.value.highest)], steps=6
    )
    up = ticks_of(scale)
    return drawing(
        box(frame),
        grid(frame, up=up),
        *ticks_up(frame, up),
        *ticks_across(frame, span.ticks()),
        *(_band(trend, frame, span, scale) for trend in trends if len(trends) <= MOST_BANDS),
        *(_version(text, at, frame, span) for text, at in versions if span.holds(at)),
        *(_line(trend, frame, span, scale, dropped) for trend in trends),
        *names_at_ends(
            [
                (trend.mark, frame.y(scale.clamped(trend.points[-1].value.estimate)))
                for trend in trends
            ],
            x=frame.right + 10,
            lowest=HEIGHT - 4,
        ),
        width=width,
        height=HEIGHT,
        css_class="model-trend",
        name=name,
    )


@dataclass(frozen=True, slots=True)
class _Span:
    """The time from the first to the last run."""

    first: datetime
    last: datetime

    def share(self, at: datetime) -> float:
        whole = (self.last - self.first) / timedelta(seconds=1)
        return 0.5 if whole == 0 else 0.02 + 0.96 * ((at - self.first) / timedelta(seconds=whole))

    def holds(self, at: datetime) -> bool:
        return self.first < at <= self.last

    def ticks(self) -> list[tuple[str, float]]:
        found: dict[str, float] = {}
        for step in range(_DATES):
            at = self.first + (self.last - self.first) * step / (_DATES - 1)
            short = (self.last - self.first) < timedelta(days=_DATES)
            text = f"{at:%H:%M}" if short else f"{at.day} {at:%b}"
            # Places strictly inside, so that every text is centred under its own.
            found.setdefault(text, self.share(at))
        return list(found.items())


def _band(trend: ModelTrend, frame: Frame, span: _Span, scale: Scale) -> str:
    if len(trend.points) < 2:
        return ""
    there = [(span.share(each.at), scale.clamped(each.value.highest)) for each in trend.points]
    back = [(span.share(each.at), scale.clamped(each.value.lowest)) for each in trend.points]
    path = "L".join(
        f"{coordinate(frame.x(x))} {coordinate(frame.y(y))}" for x, y in [*there, *back[::-1]]
    )
    return f'<path class="band {trend.mark.css_class}" d="M{path}Z"/>'


def _line(trend: ModelTrend, frame: Frame, span: _Span, scale: Scale, dropped: str | None) -> str:
    places = [(span.share(each.at), scale.clamped(each.value.estimate)) for each in trend.points]
    drawn = [line(frame, places, "line")]
    for each, (across, up) in zip(trend.points, places, strict=True):
        x, y = frame.x(across), frame.y(up)
        drawn.append(model_point(trend.mark, x, y))
        values = (each.at.timestamp() * 1000, each.value.estimate)
        drawn.append(reading(each.told, x, y, values=values, series=trend.mark.name or "no model"))
        if each.run_id == dropped:
            drawn.append(ring(frame, across, up, "first significant drop", radius=9))
    return f'<g class="{trend.mark.css_class}">{"".join(drawn)}</g>'


def _version(text: str, at: datetime, frame: Frame, span: _Span) -> str:
    x = frame.x(span.share(at))
    return (
        f'<path class="version" d="M{coordinate(x)} {frame.top}V{frame.bottom}"/>'
        f"{words(text, x=x + 4, y=frame.bottom - 6, css_class='tick')}"
    )
