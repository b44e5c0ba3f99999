"""What errors of runs cost, and decision rules by cost."""

from __future__ import annotations

from offdiag.comparison.texts import MOST_RUNS
from offdiag.domain.access import Role
from offdiag.records.cost import CostsAsked, CostsOfRuns, RuleAsked, costs_of_runs
from offdiag.records.decision import TriedRule, tried_rule
from offdiag.services.decisions.rules import try_asked_rule
from offdiag.services.what_if.costs import ask
from offdiag.services.what_if.scenario import Question, runs_asked_for
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.app.context import current_registry
from offdiag_web.app.permissions import requires

blueprint = resource("costs")


@operation(blueprint, "GET", "/costs", answers=CostsOfRuns)
def compare_costs(query: CostsAsked) -> CostsOfRuns:
    """Read what the errors of runs cost, next to the best constant prediction."""
    database = current_registry().database
    run_ids = runs_asked_for(
        database, query.runs, project=query.project, dataset=query.dataset, most=MOST_RUNS
    )
    question = Question(query.costs, query.edits, query.lever, query.shares)
    return costs_of_runs(ask(database, run_ids, question, most=MOST_RUNS))


@operation(
    blueprint,
    "POST",
    "/runs/<run:run_id>/rules",
    answers={200: TriedRule, 201: TriedRule},
)
@requires(Role.LOGGER)
def try_rule(run_id: str, json: RuleAsked) -> tuple[TriedRule, int]:
    """Apply a decision rule by cost to the scores of a run, and read what changes.

    Without `save_as` nothing is stored. With it the predictions are stored as a run, and the
    response has status 201; the same rule again is the same run.
    """
    trial, saved = try_asked_rule(
        current_registry().database,
        run_id,
        costs=json.costs,
        shares=json.shares,
        threshold=json.threshold,
        positive=json.positive,
        save_as=json.save_as,
        author=author(json.author),
    )
    return tried_rule(trial, saved), 200 if saved is None else 201
