"""Decision rules: the data of their page, trying one, and storing its predictions as a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.sentences import known_names
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.metrics.costs.decisions import (
    ExpectedCostRule,
    Rule,
    ThresholdRule,
    at_deployment,
    described,
    finite_threshold,
)
from offdiag.metrics.costs.edits import groups_text, require_understood
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.what_if import shares_text
from offdiag.services.decisions.thresholds import (
    Change,
    ThresholdCosts,
    change_of,
    redecided,
    threshold_costs_of,
)
from offdiag.services.ingest.derive_run import derive_run, no_scores
from offdiag.services.what_if.runs import BaseCosts, Preset, Question, base_costs
from offdiag.services.what_if.scenario import Scenario, understand
from offdiag.store.database import Database, Session
from offdiag.store.evaluations_write import read_curves
from offdiag.store.run_costs import (
    CostChoice,
    OtherRun,
    RunWithCosts,
    cost_choices,
    runs_derived_from,
    runs_with_costs,
)
from offdiag.store.runs import RunRecord

MOST_SCORES = 20_000_000
"""Most scores that are decided while a user waits for a page."""
_MOST_DERIVED = 20


class NoDecision(StrEnum):
    """Why no decision rule can be applied."""

    NO_SCORES = "no_scores"
    NOT_DRAWN = "not_drawn"
    NO_SAMPLES = "no_cases"
    NO_PROBABILITIES = "no_probabilities"
    TOO_MANY = "too_many"
    COUNTED = "counted"


@dataclass(frozen=True)
class Decisions:
    """What a run would cost if its predictions were made from scores and costs.

    With two classes `thresholds` has every threshold, with more, `change` says what predicting the
    class with the least expected cost would change; both are None if `missing` says why, and
    `problem` says which scores are the cause. `derived` are the runs already decided from these
    scores.
    """

    run: RunWithCosts
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
    """Compute the costs of the decisions possible with the scores of a run.

    `positive` is the class to be flagged if the dataset names none and there are two, by default
    the rarer one. Raises `NotFound` for a run without results and for unknown costs, and
    `Conflict` for costs of other classes.
    """
    with database.read() as session:
        run, base = read_with_costs(session, run_id, question.costs)
        scenario = understand(question, base, [run.matrix])
        choices = cost_choices(session, project=run.project, labels=run.matrix.labels)
        derived = runs_derived_from(session, run, limit=_MOST_DERIVED)
        found = Decisions(run, scenario, choices, derived)
        missing = _why_none(run)
        if missing is not None:
            return replace(found, missing=missing)
        if run.matrix.n_classes == 2:
            return _by_threshold(session, found, flagged_class(run, positive))
        return _by_expected_cost(session, found)


def read_with_costs(
    session: Session, run_id: str, costs: str | None
) -> tuple[RunWithCosts, BaseCosts]:
    """An evaluated run and the costs to start from. Raises like `decisions_of`."""
    found = runs_with_costs(session, [run_id])
    if not found:
        raise NotFound(
            f"run {run_id!r} does not exist or has not been evaluated.",
            field="run",
            hint="It may have been deleted, or be waiting for its evaluation.",
        )
    return found[0], base_costs(session, found[0], costs)


def flagged_class(run: RunWithCosts, stated: str | None) -> int:
    """The code of the class, of two, whose score is compared with a threshold."""
    labels = run.matrix.labels
    named = run.positive_label or stated
    if named is not None and named in labels.index:
        return labels.index[named]
    return int(run.matrix.actual[1] <= run.matrix.actual[0])


def expected_cost_rule(run: RunWithCosts, scenario: Scenario) -> ExpectedCostRule:
    """The rule of least expected cost, at the declared class shares."""
    return ExpectedCostRule(at_deployment(scenario.effective, run.matrix, scenario.prevalence))


def _why_none(run: RunWithCosts) -> NoDecision | None:
    if not run.score_columns:
        return NoDecision.NO_SCORES
    if not run.matrix.total:
        return NoDecision.NO_SAMPLES
    if run.matrix.n_classes > 2 and not run.has_predictions:
        return NoDecision.COUNTED
    is_long = run.matrix.n_classes > 2 and run.matrix.total * run.score_columns > MOST_SCORES
    return NoDecision.TOO_MANY if is_long else None


def _by_threshold(session: Session, found: Decisions, code: int) -> Decisions:
    curve = read_curves(session, found.run.evaluation_id, {code}).get(code)
    if curve is None:
        return replace(found, missing=NoDecision.NOT_DRAWN)
    scenario = found.scenario
    thresholds = threshold_costs_of(
        curve, found.run.matrix, scenario.effective, prevalence=scenario.prevalence
    )
    return replace(found, thresholds=thresholds)


def _by_expected_cost(session: Session, found: Decisions) -> Decisions:
    scenario = found.scenario
    try:
        joint = redecided(session, found.run, expected_cost_rule(found.run, scenario))
    except InvalidInput as error:
        return replace(found, missing=NoDecision.NO_PROBABILITIES, problem=error.message)
    change = change_of(joint, scenario.effective, prevalence=scenario.prevalence)
    return replace(found, change=change)


CHOSEN_HERE = "the cheapest on these examples"


class Chosen(StrEnum):
    """The kind of decision rule that is wanted."""

    EXPECTED = "expected"
    """For each sample, the class with the least expected cost."""
    CHEAPEST = "cheapest"
    """The threshold that was cheapest on these samples; two classes only."""
    STATED = "threshold"
    """A stated threshold; two classes only."""


@dataclass(frozen=True)
class Choice:
    """The wanted rule; `threshold` is only for `Chosen.STATED`.

    `positive` is the class to be flagged if the dataset names none.
    """

    chosen: Chosen
    threshold: float | None = None
    positive: str | None = None

    @classmethod
    def of(cls, threshold: float | str | None, positive: str | None) -> Choice:
        """Choose by a threshold: a number, "cheapest", or None for the least expected cost."""
        match threshold:
            case None:
                return cls(Chosen.EXPECTED, positive=positive)
            case str():
                return cls(Chosen.CHEAPEST, positive=positive)
            case number:
                return cls(Chosen.STATED, number, positive)


@dataclass(frozen=True)
class CostBasis:
    """The costs that judge predictions: (K, K), and class shares at deployment or None.

    `origin` describes as plain values where the costs come from; it is stored with a run.
    """

    costs: CostMatrix
    prevalence: NDArray[np.float64] | None
    origin: Mapping[str, Any]


@dataclass(frozen=True)
class Trial:
    """A rule, the recipe with which it would be stored, and what it changes."""

    run: RunWithCosts
    rule: Rule
    recipe: Mapping[str, Any]
    cost_basis: CostBasis
    change: Change


def cost_basis_of(
    costs: CostMatrix, prevalence: NDArray[np.float64] | None, reference: str | None
) -> CostBasis:
    """Costs as they are; `reference` is the name under which they are stored."""
    shares = None
    if prevalence is not None:
        shares = shares_text(dict(enumerate(prevalence.tolist())), costs.labels)
    return CostBasis(costs, prevalence, {"costs": reference, "shares": shares})


def default_costs(database: Database, run_id: str, costs: str | None) -> tuple[CostMatrix, str]:
    """The named costs, or the default ones of the dataset of a run, with their name.

    Raises `NotFound`, and `Conflict` for costs of other classes or if none are named and the
    dataset has no default.
    """
    with database.read() as session:
        _, base = read_with_costs(session, run_id, costs)
    if costs is None and base.preset is not None:
        raise Conflict(
            f"the dataset of run {run_id} has no default cost matrix.",
            field="weights",
            hint="Name a cost matrix, or set one for the dataset with `offdiag cost default`.",
        )
    return base.costs, base.reference


def labels_of_run(database: Database, run_id: str) -> LabelSet:
    """The classes of an evaluated run. Raises `NotFound`."""
    with database.read() as session:
        run, _ = read_with_costs(session, run_id, Preset.ZERO_ONE)
    return run.matrix.labels


def try_rule(database: Database, run_id: str, cost_basis: CostBasis, choice: Choice) -> Trial:
    """Apply a decision rule to a run and compute the costs of both predictions; stores nothing.

    Raises `NotFound`, and `InvalidInput` for a rule that the scores or classes do not allow.
    """
    with database.read() as session:
        run, _ = read_with_costs(session, run_id, Preset.ZERO_ONE)
        if choice.chosen is not Chosen.EXPECTED:
            _require_positive(run, choice.positive)
        rule = _rule(session, run, cost_basis, choice)
        joint = redecided(session, run, rule)
    change = change_of(
        joint,
        cost_basis.costs,
        prevalence=cost_basis.prevalence,
        are_chosen_here=choice.chosen is Chosen.CHEAPEST,
    )
    return Trial(run, rule, _recipe(rule, cost_basis, choice), cost_basis, change)


def save_choice(
    database: Database,
    run_id: str,
    cost_basis: CostBasis,
    choice: Choice,
    *,
    name: str,
    author: str | None,
) -> RunRecord:
    """Store the predictions of a rule as a run; an existing run by the same rule is returned.

    Raises like `try_rule`, and `Conflict` if that run was deleted.
    """
    with database.read() as session:
        run, _ = read_with_costs(session, run_id, Preset.ZERO_ONE)
        rule = _rule(session, run, cost_basis, choice)
    return derive_run(
        database,
        source_id=run_id,
        rule=rule,
        recipe=_recipe(rule, cost_basis, choice),
        name=name,
        author=author,
    )


def try_asked_rule(
    database: Database,
    run_id: str,
    *,
    costs: str | None,
    shares: str,
    threshold: float | str | None,
    positive: str | None,
    save_as: str | None,
    author: str | None,
) -> tuple[Trial, RunRecord | None]:
    """Try a rule that is given as text, and store its predictions if `save_as` names them.

    `threshold` is as in `Choice.of`. Raises like `default_costs`, `try_rule` and `save_choice`,
    and `InvalidInput` for shares that cannot be used.
    """
    choice = Choice.of(threshold, positive)
    _, reference = default_costs(database, run_id, costs)
    question = Question(costs=reference, shares=shares)
    cost_basis = requested_cost_basis(database, run_id, question)
    trial = try_rule(database, run_id, cost_basis, choice)
    if save_as is None:
        return trial, None
    saved = save_choice(database, run_id, cost_basis, choice, name=save_as, author=author)
    return trial, saved


def requested_cost_basis(database: Database, run_id: str, question: Question) -> CostBasis:
    """The costs that a question about a run refers to.

    Raises like `decisions_of`, and `InvalidInput` for parts that have no meaning.
    """
    with database.read() as session:
        run, base = read_with_costs(session, run_id, question.costs)
    scenario = understand(question, base, [run.matrix])
    require_understood(scenario.problems)
    labels = scenario.costs.labels
    return CostBasis(
        scenario.effective,
        scenario.prevalence,
        {
            "costs": base.reference,
            "changes": scenario.edits.text(labels),
            "shares": shares_text(scenario.shares, labels),
            "merged": groups_text(scenario.groups, labels),
        },
    )


def _recipe(rule: Rule, cost_basis: CostBasis, choice: Choice) -> Mapping[str, Any]:
    chosen = CHOSEN_HERE if choice.chosen is Chosen.CHEAPEST else None
    return described(rule, **cost_basis.origin, chosen=chosen)


def _require_positive(run: RunWithCosts, stated: str | None) -> None:
    """Refuse a class that is not the positive one; another class would be flagged."""
    known = run.matrix.labels
    if stated is None:
        return
    if stated not in known.index:
        raise InvalidInput(
            f"there is no class {stated!r}.",
            field="positive",
            hint=known_names("classes", known.names),
        )
    if run.positive_label not in {None, stated}:
        raise InvalidInput(
            f"the positive class of the dataset is {run.positive_label!r}, not {stated!r}.",
            field="positive",
            hint="Leave it out; a threshold is for the score of the positive class.",
        )


def _rule(session: Session, run: RunWithCosts, cost_basis: CostBasis, choice: Choice) -> Rule:
    if not run.score_columns:
        raise no_scores(run.id)
    if not run.has_predictions:
        raise InvalidInput(
            f"run {run.id} has counts of scores, not the scores of its examples.",
            field="run",
            hint="Thresholds have their costs; to apply a rule to examples, log them.",
        )
    if choice.chosen is Chosen.EXPECTED:
        return ExpectedCostRule(at_deployment(cost_basis.costs, run.matrix, cost_basis.prevalence))
    labels = run.matrix.labels
    if len(labels) != 2:
        raise InvalidInput(
            f"there are {len(labels)} classes.",
            field="threshold",
            hint="A threshold needs two; leave it out to decide by expected cost.",
        )
    code = flagged_class(run, choice.positive)
    threshold = choice.threshold
    if choice.chosen is Chosen.CHEAPEST:
        threshold = _cheapest(session, run, cost_basis, code)
    else:
        threshold = finite_threshold(threshold)
    return ThresholdRule(code, threshold, labels.names[code])


def _cheapest(
    session: Session, run: RunWithCosts, cost_basis: CostBasis, code: int
) -> float | None:
    curve = read_curves(session, run.evaluation_id, {code}).get(code)
    if curve is None:
        raise Conflict(
            f"run {run.id} has no curve of {run.matrix.labels.names[code]!r} yet.",
            field="run",
            hint="A worker draws it by itself; offdiag recompute does it at once.",
        )
    found = threshold_costs_of(
        curve, run.matrix, cost_basis.costs, prevalence=cost_basis.prevalence
    )
    return found.best_threshold
