"""Chart of the values of models over time, each run a point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup, escape

from offdiag.domain.values import MetricValue
from offdiag.store.ranked_runs import RankedRun
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.plot import (
    Frame,
    band,
    box,
    grid,
    line,
    ring,
    ticks_across,
    ticks_of,
    ticks_up,
)
from offdiag_web.charts.svg import Extent, Scale, coordinate, drawing, reading, words
from offdiag_web.components.metric_values import extent_of, with_interval
from offdiag_web.components.model_marks import ModelMark, model_point, names_at_ends

WIDTH, WHOLE_WIDTH, HEIGHT = 860, 1240, 314
"""The width beside another card, across the page, and the height of both."""
_LEFT, _TOP, _FOR_NAMES = 44, 28, 196
MOST_BANDS = 4
"""Most models whose intervals are drawn as bands; more would only cover each other."""
_DATES = 5


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run of a model at the time it was logged; `description` is the text of its point."""

    run_id: str
    model: ModelMark
    at: datetime
    value: Extent
    description: str


def trend_points(
    runs: Iterable[tuple[RankedRun | RunEntry, MetricValue | None]],
    mark_of: Callable[[str | None], ModelMark],
) -> list[TrendPoint]:
    """The runs that have a value, oldest first."""
    found = []
    for run, value in runs:
        extent = extent_of(value)
        if extent is not None:
            day = f"{run.created_at.day} {run.created_at:%b %Y}"
            said = f"{run.name}, {day}: {with_interval(value)}"
            found.append(TrendPoint(run.id, mark_of(run.model), run.created_at, extent, said))
    return sorted(found, key=lambda point: point.at)


def model_trend(
    points: Sequence[TrendPoint],
    *,
    scale: Scale,
    metric: str,
    name: str,
    versions: Sequence[tuple[str, datetime]] = (),
    dropped: tuple[str, str] | None = None,
    width: int = WHOLE_WIDTH,
) -> Markup:
    """Draw points, oldest first, and a line for each model; `metric` is the title of the values.

    `dropped` is the run to ring, and its text. Runs without a model may be of different models, so
    they are points without a line.
    """
    frame = Frame(left=_LEFT, top=_TOP, width=width - _LEFT - _FOR_NAMES, height=HEIGHT - 64)
    span = _Span(points[0].at, points[-1].at)
    trends: dict[ModelMark, list[TrendPoint]] = {}
    for point in points:
        trends.setdefault(point.model, []).append(point)
    up = ticks_of(scale)
    return drawing(
        box(frame),
        grid(frame, up=up),
        *ticks_up(frame, up),
        *ticks_across(frame, span.ticks()),
        words(f"{metric}, 95 % CI", x=0, y=11, css_class="axis-name"),
        *(
            _intervals(own, frame, span, scale, as_band=len(trends) <= MOST_BANDS)
            for own in trends.values()
        ),
        *(_version(text, at, frame, span) for text, at in versions if span.holds(at)),
        *(_line(own, frame, span, scale, dropped) for own in trends.values()),
        *names_at_ends(
            [
                (mark, frame.y(scale.clamped(own[-1].value.estimate)))
                for mark, own in trends.items()
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
            # Points strictly inside, so that every text is centred below its own.
            found.setdefault(self._text(at), self.share(at))
        return list(found.items())

    def _text(self, at: datetime) -> str:
        """As much of a time as distinguishes it from the others."""
        span = self.last - self.first
        if span > timedelta(days=300):
            return f"{at:%b %Y}"
        day = f"{at.day} {at:%b}"
        if span >= timedelta(days=_DATES):
            return day
        clock = f"{at:%H:%M:%S}" if span < timedelta(minutes=_DATES) else f"{at:%H:%M}"
        return clock if self.first.date() == self.last.date() else f"{day} {clock}"


def _intervals(
    points: Sequence[TrendPoint], frame: Frame, span: _Span, scale: Scale, *, as_band: bool
) -> str:
    """The intervals of a model, as a band or as a bar for each run."""
    mark = points[0].model
    ends = [
        (span.share(each.at), scale.clamped(each.value.lowest), scale.clamped(each.value.highest))
        for each in points
    ]
    if as_band and len(points) > 1 and mark.name is not None:
        return band(frame, ends, f"band {mark.css_class}")
    bars = "".join(
        f"M{coordinate(frame.x(x))} {coordinate(frame.y(high))}V{coordinate(frame.y(low))}"
        for x, low, high in ends
    )
    return f'<path class="bar {mark.css_class}" d="{bars}"/>'


def _line(
    points: Sequence[TrendPoint],
    frame: Frame,
    span: _Span,
    scale: Scale,
    dropped: tuple[str, str] | None,
) -> str:
    mark = points[0].model
    places = [(span.share(each.at), scale.clamped(each.value.estimate)) for each in points]
    drawn = [] if mark.name is None else [line(frame, places, "line")]
    for each, (across, up) in zip(points, places, strict=True):
        x, y = frame.x(across), frame.y(up)
        values = (each.at.timestamp() * 1000, each.value.estimate)
        title = f"<title>{escape(each.description)}</title>"
        drawn.append(f"<g>{title}{model_point(mark, x, y)}</g>")
        drawn.append(
            reading(each.description, x, y, values=values, series=mark.name or "no model")
        )
        if dropped is not None and each.run_id == dropped[0]:
            drawn.append(ring(frame, across, up, dropped[1], radius=9))
    return f'<g class="{mark.css_class}">{"".join(drawn)}</g>'


def _version(text: str, at: datetime, frame: Frame, span: _Span) -> str:
    x = frame.x(span.share(at))
    return (
        f'<path class="version" d="M{coordinate(x)} {frame.top}V{frame.bottom}"/>'
        f"{words(text, x=x + 4, y=frame.bottom - 6, css_class='tick')}"
    )
