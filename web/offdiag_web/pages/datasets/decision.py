"""The decision on a dataset as its first page shows it: which run, and what would change that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from offdiag.comparison.texts import MOST_RUNS
from offdiag.domain.runs import PromotionRole, Task
from offdiag.domain.values import MetricValue
from offdiag.metrics.paired.sample_size import about
from offdiag.reports.scope import spec_of
from offdiag.reports.texts import difference as difference_in_units
from offdiag.services.champions.decision import (
    COST,
    Decision,
    Difference,
    LabelBudget,
    metrics_of,
)
from offdiag.services.champions.leaders import Leader, Leaders, is_lower_better
from offdiag.store.promotions import PromotionRecord
from offdiag.store.ranked_values import WorstClass
from offdiag_web.charts.interval import Canvas, interval_mark
from offdiag_web.charts.scale import Extent, Scale, spanning
from offdiag_web.components import numbers
from offdiag_web.components.controls import Moment, Segment, class_words, moment
from offdiag_web.components.datasets import (
    METRIC_TITLES,
    TITLES_OF_SETS,
    DatasetFrame,
    dataset_frame,
    runs_of_dataset_url,
)
from offdiag_web.components.model_marks import ModelMark, model_key, model_marks
from offdiag_web.components.values import Amounts, amounts_for
from offdiag_web.pages.datasets.model_trend import ModelTrend, TrendPoint, model_trend
from offdiag_web.pages.datasets.scatter import Axes, Dot, scatter
from offdiag_web.urls.compare import CompareAddress
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.what_if import WhatIfAddress

PER = 1_000
"""Costs are shown for so many examples: mean costs are often too small to read."""
MOST_IN_TABLE = 10
"""Runs of the best set that the table has; the list of runs has all."""
MOST_FORECAST = 20_000
"""More labels than these are not told apart."""
_LONGEST_NAME = 32
_LONGEST_IN_ROW = 26
_IN_ROW = Canvas(width=76, height=20)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the scatter shows: the key of a metric, and whether costs stand on its left."""

    across: str
    by_cost: bool


@dataclass(frozen=True, slots=True)
class BestRow:
    """A run of the best set."""

    name: str
    url: str
    key: Markup
    role: PromotionRole | None
    value: str
    mark: Markup | None
    worst: str
    cost: str | None
    cost_mark: Markup | None


@dataclass(frozen=True, slots=True)
class RoleCard:
    """Champion or candidate: `told` is the reason, or how the candidate differs."""

    role: PromotionRole
    name: str
    url: str
    key: Markup | None
    by: str
    at: Moment | None
    reason: str | None
    difference: str | None
    gate: str | None
    gate_passed: bool | None
    is_proposed: bool


@dataclass(frozen=True, slots=True)
class PastDecision:
    """One line of the history."""

    text: str
    reason: str | None
    author: str | None
    at: Moment


@dataclass(frozen=True, slots=True)
class BudgetView:
    """How many labels would decide. `needed` is the sentence in large letters."""

    needed: str
    between: str
    present: str
    difference: str


@dataclass(frozen=True, slots=True)
class DecisionView:
    """Everything on the page."""

    address: DatasetAddress
    frame: DatasetFrame
    metric: str
    verdict: str
    second: str | None
    pending: str | None
    compare: tuple[str, int] | None
    threshold_url: str | None
    approve_url: str | None
    across: tuple[Segment, ...]
    up: tuple[Segment, ...]
    scatter: Markup | None
    legend: tuple[tuple[Markup, str], ...]
    rows: tuple[BestRow, ...]
    rows_title: str
    cost_title: str | None
    rows_note: str
    runs_url: str
    champion: RoleCard | None
    candidate: RoleCard | None
    history: tuple[PastDecision, ...]
    trend: Markup | None
    drop: str | None
    budget: BudgetView | None
    n_runs: int
    of_class: str
    why_empty: str
    is_unlabelled: bool


def title_of(metric: str) -> str:
    """A metric as heads of columns name it."""
    known = METRIC_TITLES | TITLES_OF_SETS
    return known[metric] if metric in known else spec_of(metric, of_class=False).title


def _inside(metric: str) -> str:
    title = title_of(metric)
    return title if title.isupper() else f"{title[0].lower()}{title[1:]}"


def verdict_of(leaders: Leaders) -> str:
    """The one sentence of the page."""
    if not leaders.runs:
        return "No run has been evaluated yet."
    if leaders.total == 1:
        return "1 run, nothing to compare."
    best, metric = leaders.best_set, _inside(leaders.metric)
    if not best:
        first = numbers.shortened(leaders.runs[0].run.name, longest=_LONGEST_NAME)
        word = "lowest" if is_lower_better(leaders.metric) else "highest"
        return f"{first} has the {word} {metric}; {leaders.why_not_tested}."
    if len(best) == 1:
        name = numbers.shortened(best[0].run.name, longest=_LONGEST_NAME)
        word = "higher" if is_lower_better(leaders.metric) else "lower"
        return f"{name} leads: every other run is significantly {word}."
    all_runs = numbers.plural(leaders.total, "run")
    if len(best) == leaders.total:
        return f"None of {all_runs} can be told apart on {metric}."
    return f"{numbers.count(len(best))} of {all_runs} cannot be told apart on {metric}."


def decision_view(decision: Decision, asked: Asked, *, now: datetime) -> DecisionView:
    """Present the decision."""
    dataset, leaders, facts = decision.dataset, decision.leaders, decision.facts
    address = DatasetAddress(dataset.project, dataset.name)
    marks = _Marks(decision)
    shown = leaders.best_set or leaders.runs
    champion_id = None if decision.champion is None else decision.champion.run_id
    in_set = [each.run.id for each in leaders.best_set[:MOST_RUNS]]
    # The first run is the reference: differences are read as "to the champion".
    in_set.sort(key=lambda run_id: run_id != champion_id)
    challenger = decision.challenger
    amounts = _amounts(decision)
    return DecisionView(
        address=address,
        frame=dataset_frame(dataset, decision.size, current="decision"),
        metric=title_of(leaders.metric),
        verdict=verdict_of(leaders),
        second=_second(decision, amounts),
        pending=_pending(leaders),
        compare=(CompareAddress(tuple(in_set)).url(), len(in_set)) if len(in_set) > 1 else None,
        threshold_url=WhatIfAddress().decisions_url(challenger.run.id)
        if challenger is not None
        and challenger.run.has_scores
        and dataset.task is not Task.MULTILABEL
        else None,
        approve_url=address.approve_url(challenger.run.id) if challenger else None,
        across=tuple(
            Segment(
                title_of(key),
                address.decision_url(x=key, by_cost=asked.by_cost),
                key == asked.across,
            )
            for key in metrics_of(dataset.task, leaders.metric)
            if any(key in values for values in facts.values.values())
        ),
        up=(
            Segment("Worst class", address.decision_url(x=asked.across), not asked.by_cost),
            Segment("Cost", address.decision_url(x=asked.across, by_cost=True), asked.by_cost),
        )
        if facts.costs is not None
        else (),
        scatter=_scatter(decision, asked, marks),
        legend=tuple((model_key(mark), mark.name or "no model") for mark in marks.shown()),
        rows=tuple(_rows(decision, shown[:MOST_IN_TABLE], marks, amounts)),
        rows_title="Best set" if leaders.best_set else "Runs",
        cost_title=None if amounts is None else f"Cost / {numbers.count(PER)}",
        rows_note=_rows_note(leaders),
        runs_url=runs_of_dataset_url(address),
        champion=_card(decision, decision.champion, PromotionRole.CHAMPION, marks, now),
        candidate=_candidate_card(decision, marks, now),
        history=tuple(_past(each, now) for each in decision.history),
        trend=_trend(decision, marks),
        drop=_drop(decision),
        budget=None if facts.budget is None else _budget(decision, facts.budget),
        n_runs=decision.size.n_runs,
        of_class=class_words(dataset.task).one,
        why_empty=_why_empty(decision),
        is_unlabelled=not decision.size.n_labelled,
    )


def _why_empty(decision: Decision) -> str:
    size = decision.size
    if size.truth_number is None:
        return "No labels yet"
    if not size.n_labelled:
        return f"0 of {numbers.count(size.n_samples)} labelled"
    return f"{numbers.plural(size.n_runs, 'run waits', 'runs wait')} for evaluation"


class _Marks:
    """Who looks like what, and which run has which role."""

    def __init__(self, decision: Decision) -> None:
        self._marks: Mapping[str | None, ModelMark] = model_marks(decision.facts.models)
        self._models = [each.run.model for each in decision.leaders.runs]
        challenger = decision.challenger
        self.roles: dict[str, PromotionRole] = {}
        if decision.candidate is not None and decision.candidate.run_id and challenger:
            self.roles[decision.candidate.run_id] = PromotionRole.CANDIDATE
        if decision.champion is not None and decision.champion.run_id:
            self.roles[decision.champion.run_id] = PromotionRole.CHAMPION

    def of(self, model: str | None) -> ModelMark:
        return self._marks.get(model, self._marks[None])

    def shown(self) -> list[ModelMark]:
        """Of the models that have runs here, in their order; nothing where none has a name."""
        present = set(self._models)
        if present == {None}:
            return []
        return [mark for model, mark in self._marks.items() if model in present]


def _pending(leaders: Leaders) -> str | None:
    if not leaders.n_outdated:
        return None
    total = leaders.total + leaders.n_outdated
    return (
        f"Evaluating {numbers.count(leaders.total)} of {numbers.count(total)} on labels "
        f"v{leaders.truth_number}; the others follow."
    )


def _amounts(decision: Decision) -> Amounts | None:
    """The decimals of costs, None where nobody said what errors cost."""
    costs = [
        value.value * PER
        for values in decision.facts.values.values()
        if (value := values.get(COST)) is not None and value.value is not None
    ]
    return amounts_for(costs) if decision.facts.costs is not None and costs else None


def _second(decision: Decision, amounts: Amounts | None) -> str | None:
    """ "Of these, B costs least: 780 per 1,000. To the champion −49 (95 % CI −210 to 110)."."""
    facts = decision.facts
    if amounts is None or facts.cheapest is None or len(decision.leaders.runs) < 2:
        return None
    value = facts.values[facts.cheapest][COST].value or 0.0
    name = _name_of(decision.leaders, facts.cheapest)
    of_these = "Of these, " if len(decision.leaders.best_set) > 1 else ""
    least = "costs least: " if of_these or not decision.leaders.best_set else "costs "
    currency = (
        f" {facts.costs.costs.currency}" if facts.costs and facts.costs.costs.currency else ""
    )
    text = f"{of_these}{name} {least}{amounts.text(value * PER)}{currency} per {PER:,}."
    change = facts.to_champion
    if change is None:
        return text
    ends = (
        ""
        if change.low is None or change.high is None
        else f" (95 % CI {_signed(change.low, amounts)} to {_signed(change.high, amounts)})"
    )
    return f"{text} To the champion {_signed(change.value, amounts)}{ends}."


def _signed(cost: float, amounts: Amounts) -> str:
    text = amounts.text(cost * PER)
    return f"+{text}" if cost > 0 else text


def _name_of(leaders: Leaders, run_id: str) -> str:
    name = next((each.run.name for each in leaders.runs if each.run.id == run_id), run_id)
    return numbers.shortened(name, longest=_LONGEST_NAME)


def _extent(value: MetricValue | None, *, times: float = 1.0) -> Extent | None:
    if value is None or value.value is None:
        return None
    ends = (None if end is None else end * times for end in (value.ci_low, value.ci_high))
    return Extent(value.value * times, *ends)


def _scatter(decision: Decision, asked: Asked, marks: _Marks) -> Markup | None:
    facts, leaders = decision.facts, decision.leaders
    dots = []
    chosen = [each for each in leaders.runs if each.run.id in marks.roles]
    order = {each.run.id: each for each in [*chosen, *leaders.runs]}
    for run_id, leader in order.items():
        across = _extent(facts.values.get(run_id, {}).get(asked.across))
        up = _up(decision, run_id, by_cost=asked.by_cost)
        if across is None or up is None:
            continue
        name = numbers.shortened(leader.run.name, longest=22)
        role = marks.roles.get(run_id)
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
                told=f"{leader.run.name}: {_inside(asked.across)} "
                f"{numbers.metric(across.estimate)}, {up[1]}{f', {role}' if role else ''}",
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
    return scatter(dots, axes, name=f"{axes.up} and {_inside(asked.across)} of each run")


def _up(decision: Decision, run_id: str, *, by_cost: bool) -> tuple[float, str] | None:
    if not by_cost:
        worst = decision.facts.worst.get(run_id)
        return None if worst is None else (worst.value, _worst(decision, worst))
    extent = _extent(decision.facts.values.get(run_id, {}).get(COST), times=PER)
    amounts = _amounts(decision)
    if extent is None or amounts is None:
        return None
    return extent.estimate, f"cost {amounts.text(extent.estimate)} per {PER:,}"


def _worst(decision: Decision, worst: WorstClass) -> str:
    """ "df 11/17", or the value where the counts do not follow from it."""
    name = numbers.shortened(decision.dataset.labels.names[worst.code], longest=16)
    counts = decision.size.class_counts
    cases = counts[worst.code] if worst.code < len(counts) else 0
    hits = worst.value * cases
    if decision.dataset.task is Task.MULTILABEL or abs(hits - round(hits)) > 1e-6 or not cases:
        return f"{name} {numbers.metric(worst.value)}"
    return f"{name} {numbers.hits_of(round(hits), cases)}"


def _rows(
    decision: Decision, shown: Sequence[Leader], marks: _Marks, amounts: Amounts | None
) -> Iterator[BestRow]:
    values = decision.facts.values
    metric = decision.leaders.metric
    extents = {each.run.id: _extent(values.get(each.run.id, {}).get(metric)) for each in shown}
    costs = {
        each.run.id: _extent(values.get(each.run.id, {}).get(COST), times=PER) for each in shown
    }
    scale, cost_scale = _scale(extents.values()), _scale(costs.values())
    for leader in shown:
        run = leader.run
        extent, cost = extents[run.id], costs[run.id]
        worst = decision.facts.worst.get(run.id)
        yield BestRow(
            name=numbers.shortened(run.name, longest=_LONGEST_IN_ROW),
            url=f"/runs/{run.id}",
            key=model_key(marks.of(run.model)),
            role=marks.roles.get(run.id),
            value="" if extent is None else numbers.metric(extent.estimate),
            mark=None
            if extent is None
            else interval_mark(
                extent, scale=scale, name=f"95 % CI {_ends(extent)}", canvas=_IN_ROW
            ),
            worst="" if worst is None else _worst(decision, worst),
            cost=None if amounts is None or cost is None else amounts.text(cost.estimate),
            cost_mark=None
            if amounts is None or cost is None
            else interval_mark(
                cost,
                scale=cost_scale,
                name=f"95 % CI {amounts.text(cost.lowest)} to {amounts.text(cost.highest)}",
                canvas=_IN_ROW,
            ),
        )


def _scale(extents: Iterable[Extent | None]) -> Scale:
    return spanning([end for each in extents if each for end in (each.lowest, each.highest)])


def _ends(extent: Extent) -> str:
    return numbers.interval(extent.lowest, extent.highest)


def _rows_note(leaders: Leaders) -> str:
    best = leaders.best_set
    if not best:
        return ""
    sure = (
        f"The set contains the best run with 95 % confidence, corrected for {leaders.total} runs."
    )
    following = next((each for each in leaders.runs if not each.is_in_set), None)
    if following is None or following.run.value.value is None:
        return sure
    name = numbers.shortened(following.run.name, longest=_LONGEST_NAME)
    return f"Next: {name}, {numbers.metric(following.run.value.value)}. {sure}"


def _card(
    decision: Decision,
    decided: PromotionRecord | None,
    role: PromotionRole,
    marks: _Marks,
    now: datetime,
) -> RoleCard | None:
    if decided is None or decided.run_id is None:
        return None
    gate = None
    if decided.gate is not None:
        findings = decided.gate["conditions"]
        passed = sum(bool(each.get("passed")) for each in findings)
        gate = f"passed {passed} of {len(findings)}"
    model = next(
        (each.run.model for each in decision.leaders.runs if each.run.id == decided.run_id), None
    )
    return RoleCard(
        role=role,
        name=numbers.shortened(decided.run_name or decided.run_id, longest=_LONGEST_NAME),
        url=f"/runs/{decided.run_id}",
        key=model_key(marks.of(model)),
        by=decided.author or "",
        at=moment(decided.at, now=now),
        reason=decided.reason,
        difference=_to_champion(decision) if role is PromotionRole.CANDIDATE else None,
        gate=gate,
        gate_passed=decided.gate_passed,
        is_proposed=True,
    )


def _candidate_card(decision: Decision, marks: _Marks, now: datetime) -> RoleCard | None:
    named = _card(decision, decision.candidate, PromotionRole.CANDIDATE, marks, now)
    challenger = decision.challenger
    champion = None if decision.champion is None else decision.champion.run_id
    if named is not None or challenger is None or challenger.run.id == champion:
        return named
    return RoleCard(
        role=PromotionRole.CANDIDATE,
        name=numbers.shortened(challenger.run.name, longest=_LONGEST_NAME),
        url=f"/runs/{challenger.run.id}",
        key=model_key(marks.of(challenger.run.model)),
        by="",
        at=None,
        reason=None,
        difference=_to_champion(decision),
        gate=None,
        gate_passed=None,
        is_proposed=False,
    )


def difference_text(metric: str, change: Difference) -> str:
    """ "+1.5 pp (−3.5 pp to +6.4 pp)"."""
    spec = spec_of(metric, of_class=False)
    text = difference_in_units(change.value, spec)
    if change.low is None or change.high is None:
        return text
    low, high = (difference_in_units(end, spec) for end in (change.low, change.high))
    return f"{text} ({low} to {high})"


def _to_champion(decision: Decision) -> str | None:
    change = decision.facts.candidate
    if change is None:
        return None
    metric = decision.leaders.metric
    said = "" if change.is_significant else ": no significant difference"
    return f"{difference_text(metric, change)} {_inside(metric)} to the champion{said}"


def _past(decided: PromotionRecord, now: datetime) -> PastDecision:
    name = numbers.shortened(decided.run_name or decided.run_id or "", longest=_LONGEST_NAME)
    text = f"{decided.role}: {name}" if decided.run_id else f"{decided.role} withdrawn"
    return PastDecision(text, decided.reason, decided.author, moment(decided.at, now=now))


def _trend(decision: Decision, marks: _Marks) -> Markup | None:
    """None for one run, which is no trend."""
    by_model: dict[str | None, list[TrendPoint]] = {}
    metric = decision.leaders.metric
    for leader in sorted(decision.leaders.runs, key=lambda each: each.run.created_at):
        run = leader.run
        value = _extent(run.value)
        if value is not None:
            by_model.setdefault(run.model, []).append(TrendPoint(run.id, run.created_at, value))
    if sum(map(len, by_model.values())) < 2:
        return None
    trends = [ModelTrend(marks.of(model), tuple(points)) for model, points in by_model.items()]
    versions = [(f"labels v{number}", at) for number, at in decision.facts.versions[1:]]
    drop = decision.facts.drop
    return model_trend(
        trends,
        versions,
        dropped=None if drop is None else drop.run_id,
        name=f"{title_of(metric)} of each model over time",
    )


def _drop(decision: Decision) -> str | None:
    drop = decision.facts.drop
    if drop is None:
        return None
    leaders = decision.leaders
    return (
        f"First significant drop: {_name_of(leaders, drop.run_id)}, "
        f"{difference_text(leaders.metric, drop.difference)} from "
        f"{_name_of(leaders, drop.best_id)}."
    )


def _budget(decision: Decision, budget: LabelBudget) -> BudgetView:
    spec = spec_of(decision.leaders.metric, of_class=False)
    matters = difference_in_units(budget.difference, spec).lstrip("+")
    needed = f"about {numbers.count(about(budget.needed))} labelled examples"
    if budget.needed > MOST_FORECAST:
        needed = f"more than {numbers.count(MOST_FORECAST)} labelled examples"
    elif budget.low is not None and budget.high is not None:
        low, high = (numbers.count(about(end)) for end in (budget.low, budget.high))
        needed = f"{needed} ({low} – {high})"
    names = (_name_of(decision.leaders, each) for each in (budget.first_id, budget.second_id))
    settled = (
        "" if budget.settled is None else difference_in_units(budget.settled, spec).lstrip("+")
    )
    return BudgetView(
        needed=needed,
        between=f"in all would settle a difference of {matters} between {' and '.join(names)} "
        "(power 80 %).",
        present=f"The present {numbers.count(budget.n_samples)} settle {settled}."
        if settled
        else "",
        difference=f"{100 * budget.difference:g}",
    )
