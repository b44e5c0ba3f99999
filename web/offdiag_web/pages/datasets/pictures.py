"""The charts of the decision page: runs by two values, and models over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from markupsafe import Markup

from offdiag.domain.runs import PromotionRole, Task
from offdiag.metrics.intervals.delta import range_of
from offdiag.metrics.metric_text import PER_CASES
from offdiag.services.champions.decision import COST, Decision
from offdiag_web.charts.plot import Frame, box, grid, line, ring, ticks_across, ticks_of, ticks_up
from offdiag_web.charts.svg import Extent, Scale, coordinate, drawing, reading, spanning, words
from offdiag_web.components import numbers
from offdiag_web.components.metric_values import extent_of
from offdiag_web.components.model_marks import ModelMark, model_point, names_at_ends
from offdiag_web.pages.datasets.contenders import Marks, source_of, worst_text
from offdiag_web.pages.datasets.scatter import Axes, Dot, scatter
from offdiag_web.pages.datasets.verdict import amounts_of, drop_title, title_inside, title_of


@dataclass(frozen=True, slots=True)
class Asked:
    """What the scatter plot shows: the key of a metric, and whether its y-axis is the cost."""

    across: str
    by_cost: bool


def scatter_of(decision: Decision, asked: Asked, marks: Marks) -> Markup | None:
    facts, leaders = decision.facts, decision.leaders
    dots = []
    chosen = [each for each in leaders.runs if each.run.id in marks.roles]
    order = {each.run.id: each for each in [*chosen, *leaders.runs]}
    for run_id, leader in order.items():
        across = extent_of(facts.values.get(run_id, {}).get(asked.across))
        up = _up(decision, run_id, by_cost=asked.by_cost)
        if across is None or up is None:
            continue
        name = numbers.shortened(leader.run.name, longest=22)
        role = marks.roles.get(run_id)
        source = source_of(leaders, leader.run)
        in_set = leaders.why_not_tested is None and leader.is_in_set
        dots.append(
            Dot(
                mark=marks.of(leader.run.model),
                across=across,
                up=up[0],
                is_in_set=in_set,
                is_champion=role is PromotionRole.CHAMPION,
                url=f"/runs/{run_id}",
                name=f"{role} {name}" if role else name if in_set else "",
                description=f"{leader.run.name}: {title_inside(asked.across)} "
                f"{numbers.metric(across.estimate)}, {up[1]}{f', {role}' if role else ''}"
                f"{f', another rule on {source[0]}' if source else ''}",
            )
        )
    if not dots:
        return None
    of_labels = decision.dataset.task is Task.MULTILABEL
    worst = "F1 of the worst label" if of_labels else "Recall of the worst class"
    axes = Axes(
        title_of(asked.across),
        f"Cost per {PER_CASES:,}" if asked.by_cost else worst,
        shows_minority=not asked.by_cost and not of_labels,
        across_range=range_of(asked.across),
        up_range=(0, inf) if asked.by_cost else (0, 1),
    )
    return scatter(dots, axes, name=f"{axes.up} and {title_inside(asked.across)} of each run")


def _up(decision: Decision, run_id: str, *, by_cost: bool) -> tuple[float, str] | None:
    if not by_cost:
        worst = decision.facts.worst.get(run_id)
        return None if worst is None else (worst.value, worst_text(decision, worst))
    extent = extent_of(decision.facts.values.get(run_id, {}).get(COST), times=PER_CASES)
    amounts = amounts_of(decision)
    if extent is None or amounts is None:
        return None
    return extent.estimate, f"cost {amounts.text(extent.estimate)} per {PER_CASES:,}"


def trend_of(decision: Decision, marks: Marks) -> Markup | None:
    """The trend chart; None for a single run, which is no trend."""
    by_model: dict[str | None, list[TrendPoint]] = {}
    metric = decision.leaders.metric
    for leader in sorted(decision.leaders.runs, key=lambda each: each.run.created_at):
        run = leader.run
        value = extent_of(run.value)
        if value is not None:
            description = f"{run.name}, {run.created_at.day} {run.created_at:%b %Y}: "
            description += numbers.metric(value.estimate)
            if value.low is not None and value.high is not None:
                description += f" ({numbers.interval(value.low, value.high)})"
            point = TrendPoint(run.id, run.created_at, value, description)
            by_model.setdefault(run.model, []).append(point)
    if sum(map(len, by_model.values())) < 2:
        return None
    trends = [ModelTrend(marks.of(model), tuple(points)) for model, points in by_model.items()]
    versions = [(f"labels v{number}", at) for number, at in decision.facts.versions[1:]]
    drop = decision.facts.drop
    return model_trend(
        trends,
        versions,
        dropped=None if drop is None else (drop.run_id, drop_title(decision.leaders)),
        width=WIDTH if decision.facts.budget else WHOLE_WIDTH,
        name=f"{title_of(metric)} of each model over time",
    )


WIDTH, WHOLE_WIDTH, HEIGHT = 860, 1240, 300
"""The width beside another card, across the page, and the height of both."""
_LEFT, _TOP, _FOR_NAMES = 44, 14, 196
MOST_BANDS = 4
"""Most models whose intervals are drawn as bands; more would only cover each other."""
_DATES = 5


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run of a model; `description` is the text of its point."""

    run_id: str
    at: datetime
    value: Extent
    description: str


@dataclass(frozen=True, slots=True)
class ModelTrend:
    """A model with its runs, oldest first."""

    mark: ModelMark
    points: tuple[TrendPoint, ...]


def model_trend(
    trends: Sequence[ModelTrend],
    versions: Sequence[tuple[str, datetime]],
    *,
    dropped: tuple[str, str] | None,
    name: str,
    width: int = WIDTH,
) -> Markup:
    """Draw a line for each model; `dropped` is the run to ring, and its text.

    Runs without a model may be of different models, so they are points without a line.
    """
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


def _band(trend: ModelTrend, frame: Frame, span: _Span, scale: Scale) -> str:
    if len(trend.points) < 2 or trend.mark.name is None:
        return ""
    there = [(span.share(each.at), scale.clamped(each.value.highest)) for each in trend.points]
    back = [(span.share(each.at), scale.clamped(each.value.lowest)) for each in trend.points]
    path = "L".join(
        f"{coordinate(frame.x(x))} {coordinate(frame.y(y))}" for x, y in [*there, *back[::-1]]
    )
    return f'<path class="band {trend.mark.css_class}" d="M{path}Z"/>'


def _line(
    trend: ModelTrend, frame: Frame, span: _Span, scale: Scale, dropped: tuple[str, str] | None
) -> str:
    places = [(span.share(each.at), scale.clamped(each.value.estimate)) for each in trend.points]
    drawn = [] if trend.mark.name is None else [line(frame, places, "line")]
    for each, (across, up) in zip(trend.points, places, strict=True):
        x, y = frame.x(across), frame.y(up)
        drawn.append(model_point(trend.mark, x, y))
        values = (each.at.timestamp() * 1000, each.value.estimate)
        drawn.append(
            reading(each.description, x, y, values=values, series=trend.mark.name or "no model")
        )
        if dropped is not None and each.run_id == dropped[0]:
            drawn.append(ring(frame, across, up, dropped[1], radius=9))
    return f'<g class="{trend.mark.css_class}">{"".join(drawn)}</g>'


def _version(text: str, at: datetime, frame: Frame, span: _Span) -> str:
    x = frame.x(span.share(at))
    return (
        f'<path class="version" d="M{coordinate(x)} {frame.top}V{frame.bottom}"/>'
        f"{words(text, x=x + 4, y=frame.bottom - 6, css_class='tick')}"
    )
