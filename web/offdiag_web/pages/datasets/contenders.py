"""The runs to decide between: the best set, the champion and the candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from offdiag.domain.number_text import Amounts
from offdiag.domain.runs import PromotionRole, Task, choice_text
from offdiag.flags.warning import named
from offdiag.metrics.many_runs.best_runs import BestOfMany
from offdiag.metrics.metric_text import PER_CASES
from offdiag.services.champions.decision import COST, Decision
from offdiag.services.champions.leaders import Leader, Leaders
from offdiag.store.promotions import PromotionRecord
from offdiag.store.ranked_runs import RankedRun, WorstClass
from offdiag_web.charts.marks import Canvas, interval_mark
from offdiag_web.charts.svg import Extent, Scale, spanning
from offdiag_web.components import metric_values, numbers
from offdiag_web.components.metric_values import extent_of
from offdiag_web.components.model_marks import ModelMark, model_key, model_marks
from offdiag_web.pages.datasets.verdict import LONGEST_NAME, difference_text, name_of, title_inside

MOST_IN_TABLE = 10
"""Most runs of the best set in the table; the list of runs has all of them."""
_LONGEST_IN_ROW = 26
_IN_ROW = Canvas(width=76, height=20)


@dataclass(frozen=True, slots=True)
class BestRow:
    """A run of the best set; `derived` is the name and URL of the run whose scores it uses."""

    name: str
    url: str
    key: Markup
    role: PromotionRole | None
    derived: tuple[str, str] | None
    value: str
    mark: Markup | None
    worst: str
    cost: str | None
    cost_mark: Markup | None


@dataclass(frozen=True, slots=True)
class RoleCard:
    """The champion or the candidate, with the difference between them and the reason.

    `value` is that of a champion outside the best set, whose table does not have it.
    """

    role: PromotionRole
    name: str
    url: str
    key: Markup | None
    difference: str | None
    is_proposed: bool
    by: str = ""
    at: datetime | None = None
    reason: str | None = None
    gate: str | None = None
    gate_passed: bool | None = None
    value: str = ""


class Marks:
    """The look of each model, and the roles of runs."""

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
        """The marks of models that have runs here, in order; none if no run has a model."""
        present = set(self._models)
        if present == {None}:
            return []
        return [mark for model, mark in self._marks.items() if model in present]


def best_rows(
    decision: Decision, shown: Sequence[Leader], marks: Marks, amounts: Amounts | None
) -> Iterator[BestRow]:
    values = decision.facts.values
    metric = decision.leaders.metric
    extents = {each.run.id: extent_of(values.get(each.run.id, {}).get(metric)) for each in shown}
    costs = {
        each.run.id: extent_of(values.get(each.run.id, {}).get(COST), times=PER_CASES)
        for each in shown
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
            derived=source_of(decision.leaders, run),
            value="" if extent is None else numbers.metric(extent.estimate),
            mark=None
            if extent is None
            else _mark(extent, scale, numbers.interval(extent.lowest, extent.highest)),
            worst="" if worst is None else worst_text(decision, worst),
            cost=None if amounts is None or cost is None else amounts.text(cost.estimate),
            cost_mark=None
            if amounts is None or cost is None
            else _mark(
                cost, cost_scale, f"{amounts.text(cost.lowest)} to {amounts.text(cost.highest)}"
            ),
        )


def _mark(extent: Extent, scale: Scale, interval: str) -> Markup:
    name = "no interval" if extent.low is None else f"95 % CI {interval}"
    return interval_mark(extent, scale=scale, name=name, canvas=_IN_ROW)


def source_of(leaders: Leaders, run: RankedRun) -> tuple[str, str] | None:
    """Name and URL of the run to whose scores another decision rule was applied."""
    if run.derived_from is None:
        return None
    return name_of(leaders, run.derived_from), f"/runs/{run.derived_from}"


def rows_note(leaders: Leaders, best_of_many: BestOfMany | None = None) -> str:
    """What the table leaves out, what being in the set means, and what the first run may reach."""
    best = leaders.best_set
    if not best:
        return ""
    choice = ""
    if best_of_many is not None:
        choice = f" {choice_text(best_of_many.n_runs, best_of_many.corrected.value)}"
    return _set_note(leaders, best) + choice


def _set_note(leaders: Leaders, best: Sequence[Leader]) -> str:
    n_compared = numbers.count(len(leaders.runs) - leaders.n_chosen_here)
    sure = f"The set contains the best run with 95 % confidence, corrected for {n_compared} runs."
    if leaders.total > len(leaders.runs):
        word = "lowest" if leaders.lower_is_better else "highest"
        sure = (
            f"Only the {n_compared} {word} of {numbers.count(leaders.total)} runs were compared. "
            f"The set contains the best of them with 95 % confidence."
        )
    hidden = len(best) - MOST_IN_TABLE
    if hidden > 0:
        return f"{numbers.count(hidden)} more {'is' if hidden == 1 else 'are'} in the set. {sure}"
    others = (each for each in leaders.runs if not each.is_in_set)
    following = next((each for each in others if not each.run.is_chosen_here), None)
    if following is None or following.run.value.value is None:
        return sure
    name = numbers.shortened(following.run.name, longest=LONGEST_NAME)
    return f"Next: {name}, {numbers.metric(following.run.value.value)}. {sure}"


def worst_text(decision: Decision, worst: WorstClass) -> str:
    """ "df 11/17", or the value if no count follows from it."""
    name = named(decision.dataset.labels.names[worst.code], longest=16)
    counts = decision.size.class_counts
    cases = counts[worst.code] if worst.code < len(counts) else 0
    hits = worst.value * cases
    is_share = decision.dataset.task is Task.MULTILABEL or decision.leaders.has_weights
    if is_share or abs(hits - round(hits)) > 1e-6 or not cases:
        return f"{name} {numbers.metric(worst.value)}"
    return f"{name} {numbers.hits_of(round(hits), cases)}"


def _scale(extents: Iterable[Extent | None]) -> Scale:
    return spanning([end for each in extents if each for end in (each.lowest, each.highest)])


def role_card(
    decision: Decision,
    decided: PromotionRecord | None,
    role: PromotionRole,
    marks: Marks,
) -> RoleCard | None:
    if decided is None or decided.run_id is None:
        return None
    gate = None
    if decided.gate is not None:
        findings = decided.gate["conditions"]
        passed = sum(bool(each.get("passed")) for each in findings)
        word = "passed" if decided.gate_passed else "failed"
        gate = f"gate {word}: {passed} of {numbers.plural(len(findings), 'condition')} passed"
    leader = next((each for each in decision.leaders.runs if each.run.id == decided.run_id), None)
    return RoleCard(
        role=role,
        name=numbers.shortened(decided.run_name or decided.run_id, longest=LONGEST_NAME),
        url=f"/runs/{decided.run_id}",
        key=model_key(marks.of(None if leader is None else leader.run.model)),
        by=decided.author or "",
        at=decided.at,
        reason=decided.reason,
        difference=_to_champion(decision) if role is PromotionRole.CANDIDATE else None,
        gate=gate,
        gate_passed=decided.gate_passed,
        is_proposed=True,
        value=_value_outside(decision, leader)
        if role is PromotionRole.CHAMPION and leader is not None
        else "",
    )


def _value_outside(decision: Decision, leader: Leader) -> str:
    """ "0.589 (0.540 – 0.637) balanced accuracy, not in the best set"; else empty."""
    if leader.is_in_set or leader.run.is_chosen_here or not decision.leaders.best_set:
        return ""
    shown = metric_values.with_interval(leader.run.value)
    return f"{shown} {title_inside(decision.leaders.metric)}, not in the best set"


def candidate_card(decision: Decision, marks: Marks) -> RoleCard | None:
    named = role_card(decision, decision.candidate, PromotionRole.CANDIDATE, marks)
    challenger = decision.challenger
    champion = None if decision.champion is None else decision.champion.run_id
    if named is not None or challenger is None or challenger.run.id == champion:
        return named
    return RoleCard(
        role=PromotionRole.CANDIDATE,
        name=numbers.shortened(challenger.run.name, longest=LONGEST_NAME),
        url=f"/runs/{challenger.run.id}",
        key=model_key(marks.of(challenger.run.model)),
        difference=_to_champion(decision),
        is_proposed=False,
    )


def _to_champion(decision: Decision) -> str | None:
    change = decision.facts.candidate
    if change is None:
        return None
    metric = decision.leaders.metric
    said = "" if change.is_significant else ": no significant difference"
    return f"{difference_text(metric, change)} {title_inside(metric)} to the champion{said}"


def worse_than_champion(decision: Decision) -> str | None:
    """Says that the candidate is significantly worse than the champion; None if it is not."""
    change, challenger = decision.facts.candidate, decision.challenger
    if change is None or challenger is None or decision.candidate is None:
        return None
    is_worse = (change.value < 0) is not decision.leaders.lower_is_better
    if challenger.run.id != decision.candidate.run_id or not (change.is_significant and is_worse):
        return None
    name = numbers.shortened(challenger.run.name, longest=LONGEST_NAME)
    difference = difference_text(decision.leaders.metric, change)
    metric = title_inside(decision.leaders.metric)
    return f"the candidate {name} is worse than the champion, {difference} {metric}"


def past_decision(decided: PromotionRecord) -> tuple[str, str | None, str | None, datetime]:
    name = numbers.shortened(decided.run_name or decided.run_id or "", longest=LONGEST_NAME)
    text = f"{decided.role}: {name}" if decided.run_id else f"{decided.role} withdrawn"
    return (text, decided.reason, decided.author, decided.at)
