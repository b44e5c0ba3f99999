"""Deciding the cases of a run anew in a database that this process opens itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.prevalence import declared_prevalence
from offdiag.sdk.decision import Decided, DecideQuestion
from offdiag.services.decisions.saving import (
    Choice,
    Chosen,
    Pricing,
    default_costs,
    labels_of_run,
    pricing_of,
    save_choice,
    try_rule,
)
from offdiag.store.database import Database


def decide(database: Database, run_id: str, question: DecideQuestion) -> Decided:
    """Answer the question about an evaluated run, and keep the answers if that is asked for."""
    pricing = _pricing(database, run_id, question)
    choice = _choice(question)
    trial = try_rule(database, run_id, pricing, choice)
    saved = None
    if question.save_as is not None:
        saved = save_choice(
            database, run_id, pricing, choice, name=question.save_as, author=question.author
        ).id
    change = trial.change
    return Decided(
        recipe=trial.recipe,
        mean_cost_before=change.before,
        mean_cost_after=change.after,
        difference=change.difference,
        matrix_before=change.joint.first_matrix,
        matrix_after=change.joint.second_matrix,
        recall_changes={each.label: each.difference for each in change.classes},
        saved=saved,
    )


def _pricing(database: Database, run_id: str, question: DecideQuestion) -> Pricing:
    reference = None
    if question.weights is None or isinstance(question.weights, str):
        costs, reference = default_costs(database, run_id, question.weights)
    else:
        costs = cost_matrix(question.weights, labels=labels_of_run(database, run_id))
    shares = None
    if question.prevalence is not None:
        given = question.prevalence
        # What is neither a mapping nor an array is refused by the one who reads it.
        stated = given if isinstance(given, Mapping) else cast("Any", given)
        shares = declared_prevalence(stated, labels=costs.labels)
    return pricing_of(costs, shares, reference)


def _choice(question: DecideQuestion) -> Choice:
    match question.threshold:
        case None:
            return Choice(Chosen.EXPECTED, positive=question.positive)
        case "cheapest":
            return Choice(Chosen.CHEAPEST, positive=question.positive)
        case threshold:
            return Choice(Chosen.STATED, threshold, question.positive)
