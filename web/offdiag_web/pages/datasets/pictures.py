"""The charts of the decision page: runs by two values, and models over time."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from markupsafe import Markup

from offdiag.domain.runs import PromotionRole, Task
from offdiag.metrics.intervals.delta import range_of
from offdiag.metrics.metric_text import PER_CASES
from offdiag.services.champions.decision import COST, Decision
from offdiag_web.charts.svg import spanning
from offdiag_web.components import numbers
from offdiag_web.components.metric_values import extent_of, with_interval
from offdiag_web.components.model_trend import WHOLE_WIDTH, WIDTH, model_trend, trend_points
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
        value = facts.values.get(run_id, {}).get(asked.across)
        across = extent_of(value)
        up = _up(decision, run_id, by_cost=asked.by_cost)
        if across is None or up is None:
            continue
        name = numbers.shortened(leader.run.name, longest=26)
        role = marks.roles.get(run_id)
        source = source_of(leaders, leader.run)
        in_set = leaders.why_not_tested is None and leader.is_in_set
        title = title_inside(asked.across)
        dots.append(
            Dot(
                mark=marks.of(leader.run.model),
                across=across,
                up=up[0],
                is_in_set=in_set,
                is_champion=role is PromotionRole.CHAMPION,
                url=f"/runs/{run_id}",
                name=f"{role} {name}" if role else name if in_set else "",
                description=f"{leader.run.name}: {title} {with_interval(value)}, "
                f"{up[1]}{f', {role}' if role else ''}{', in the best set' if in_set else ''}"
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
    runs = [each.run for each in decision.leaders.runs]
    points = trend_points(((run, run.value) for run in runs), marks.of)
    if len(points) < 2:
        return None
    drop, title = decision.facts.drop, title_of(decision.leaders.metric)
    return model_trend(
        points,
        scale=spanning(
            [end for each in points for end in (each.value.lowest, each.value.highest)], steps=6
        ),
        metric=title,
        versions=[(f"labels v{number}", at) for number, at in decision.facts.versions[1:]],
        dropped=None if drop is None else (drop.run_id, drop_title(decision.leaders)),
        width=WIDTH if decision.facts.budget else WHOLE_WIDTH,
        name=f"{title} of each model over time",
    )
