"""The pictures of the decision: runs by two values, and models over time."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from offdiag.domain.runs import PromotionRole, Task
from offdiag.services.champions.decision import (
    COST,
    Decision,
)
from offdiag_web.components import numbers
from offdiag_web.pages.datasets.chosen import Marks, extent_of, source_of, worst_text
from offdiag_web.pages.datasets.model_trend import (
    WHOLE_WIDTH,
    WIDTH,
    ModelTrend,
    TrendPoint,
    model_trend,
)
from offdiag_web.pages.datasets.scatter import Axes, Dot, scatter
from offdiag_web.pages.datasets.verdict import PER, amounts_of, inside, title_of


@dataclass(frozen=True, slots=True)
class Asked:
    """What the scatter shows: the key of a metric, and whether costs stand on its left."""

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
                told=f"{leader.run.name}: {inside(asked.across)} "
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
        f"Cost per {PER:,}" if asked.by_cost else worst,
        shows_minority=not asked.by_cost and not of_labels,
    )
    return scatter(dots, axes, name=f"{axes.up} and {inside(asked.across)} of each run")


def _up(decision: Decision, run_id: str, *, by_cost: bool) -> tuple[float, str] | None:
    if not by_cost:
        worst = decision.facts.worst.get(run_id)
        return None if worst is None else (worst.value, worst_text(decision, worst))
    extent = extent_of(decision.facts.values.get(run_id, {}).get(COST), times=PER)
    amounts = amounts_of(decision)
    if extent is None or amounts is None:
        return None
    return extent.estimate, f"cost {amounts.text(extent.estimate)} per {PER:,}"


def trend_of(decision: Decision, marks: Marks) -> Markup | None:
    """None for one run, which is no trend."""
    by_model: dict[str | None, list[TrendPoint]] = {}
    metric = decision.leaders.metric
    for leader in sorted(decision.leaders.runs, key=lambda each: each.run.created_at):
        run = leader.run
        value = extent_of(run.value)
        if value is not None:
            told = f"{run.name}, {run.created_at.day} {run.created_at:%b %Y}: "
            told += numbers.metric(value.estimate)
            if value.low is not None and value.high is not None:
                told += f" ({numbers.interval(value.low, value.high)})"
            point = TrendPoint(run.id, run.created_at, value, told)
            by_model.setdefault(run.model, []).append(point)
    if sum(map(len, by_model.values())) < 2:
        return None
    trends = [ModelTrend(marks.of(model), tuple(points)) for model, points in by_model.items()]
    versions = [(f"labels v{number}", at) for number, at in decision.facts.versions[1:]]
    drop = decision.facts.drop
    return model_trend(
        trends,
        versions,
        dropped=None if drop is None else drop.run_id,
        width=WIDTH if decision.facts.budget else WHOLE_WIDTH,
        name=f"{title_of(metric)} of each model over time",
    )
