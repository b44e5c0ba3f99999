"""What a page of decisions reads and works out, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offdiag.errors import InvalidInput, NotFound
from offdiag.metrics.costs.decisions import ExpectedCostRule, at_deployment
from offdiag.services.decisions.redeciding import Change, change_of, redecided
from offdiag.services.decisions.thresholds import ThresholdCosts, threshold_costs_of
from offdiag.services.what_if.reading import BaseCosts, base_costs
from offdiag.services.what_if.scenario import Question, Scenario, understand
from offdiag.store.database import Database
from offdiag.store.evaluation_writing import read_curves
from offdiag.store.priced_runs import (
    CostChoice,
    OtherRun,
    PricedRun,
    cost_choices,
    priced_runs,
    runs_derived_from,
)
from offdiag.store.session import Session

MOST_SCORES = 20_000_000
"""So many scores are decided while somebody waits for a page."""
_MOST_DERIVED = 20


class NoDecision(StrEnum):
    """Why nothing can be decided."""

    NO_SCORES = "no_scores"
    NOT_DRAWN = "not_drawn"
    NO_CASES = "no_cases"
    NO_PROBABILITIES = "no_probabilities"
    TOO_MANY = "too_many"


@dataclass(frozen=True)
class Decisions:
    """What a run would cost if its scores were decided by costs.

    With two classes `thresholds` holds every threshold, with more `change` what the cheapest
    answers to expect change; both are None where `missing` says why, `problem` with which
    scores. `derived` are the runs that were decided from these scores before.
    """

    run: PricedRun
    scenario: Scenario
    choices: tuple[CostChoice, ...]
    derived: tuple[OtherRun, ...]
    thresholds: ThresholdCosts | None = None
    change: Change | None = None
    missing: NoDecision | None = None
    problem: str | None = None


def decisions_of(
    database: Database, run_id: str, question: Question, *, positive: str | None = None
) -> Decisions:
    """Price what could be decided from the scores of a run.

    `positive` is the class to be flagged where the dataset names none and there are two, by
    default the rarer one. Raises `NotFound` for a run without results and for unknown costs, and
    `Conflict` for costs of other classes.
    """
    with database.read() as session:
        run, base = read_priced(session, run_id, question.costs)
        scenario = understand(question, base, [run.matrix])
        choices = cost_choices(session, project=run.project, labels=run.matrix.labels)
        derived = runs_derived_from(session, run, limit=_MOST_DERIVED)
        found = Decisions(run, scenario, choices, derived)
        missing = _why_none(run)
        if missing is not None:
            return _without(found, missing)
        if run.matrix.n_classes == 2:
            return _by_threshold(session, found, flagged_class(run, positive))
        return _by_expected_cost(session, found)


def read_priced(session: Session, run_id: str, costs: str | None) -> tuple[PricedRun, BaseCosts]:
    """An evaluated run and the costs to start from. Raises as `decisions_of`."""
    found = priced_runs(session, [run_id])
    if not found:
        raise NotFound(
            f"run {run_id!r} does not exist or has not been evaluated.",
            field="run",
            hint="It may have been deleted, or be waiting for its evaluation.",
        )
    return found[0], base_costs(session, found[0], costs)


def flagged_class(run: PricedRun, stated: str | None) -> int:
    """The code of the class of two whose score is held against a threshold."""
    labels = run.matrix.labels
    named = run.positive_label or stated
    if named is not None and named in labels.index:
        return labels.index[named]
    return int(run.matrix.actual[1] <= run.matrix.actual[0])


def expected_cost_rule(run: PricedRun, scenario: Scenario) -> ExpectedCostRule:
    """Answer what is cheapest to expect, at the class shares that were declared."""
    return ExpectedCostRule(at_deployment(scenario.effective, run.matrix, scenario.prevalence))


def _why_none(run: PricedRun) -> NoDecision | None:
    if not run.score_columns:
        return NoDecision.NO_SCORES
    if not run.matrix.total:
        return NoDecision.NO_CASES
    is_long = run.matrix.n_classes > 2 and run.matrix.total * run.score_columns > MOST_SCORES
    return NoDecision.TOO_MANY if is_long else None


def _by_threshold(session: Session, found: Decisions, code: int) -> Decisions:
    curve = read_curves(session, found.run.evaluation_id, {code}).get(code)
    if curve is None:
        return _without(found, NoDecision.NOT_DRAWN)
    scenario = found.scenario
    thresholds = threshold_costs_of(
        curve, found.run.matrix, scenario.effective, prevalence=scenario.prevalence
    )
    return Decisions(found.run, scenario, found.choices, found.derived, thresholds=thresholds)


def _by_expected_cost(session: Session, found: Decisions) -> Decisions:
    scenario = found.scenario
    try:
        joint = redecided(session, found.run, expected_cost_rule(found.run, scenario))
    except InvalidInput as error:
        return _without(found, NoDecision.NO_PROBABILITIES, error.message)
    change = change_of(joint, scenario.effective, prevalence=scenario.prevalence)
    return Decisions(found.run, scenario, found.choices, found.derived, change=change)


def _without(found: Decisions, missing: NoDecision, problem: str | None = None) -> Decisions:
    return Decisions(
        found.run, found.scenario, found.choices, found.derived, missing=missing, problem=problem
    )
