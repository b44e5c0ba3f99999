"""Deciding the cases of a run anew from their scores."""

from __future__ import annotations

from offdiag.domain.access import Role
from offdiag.domain.orientation import SourceOrientation
from offdiag.records.base import Value, values_of
from offdiag.records.cost import DecisionAnswer, DecisionAsked
from offdiag.records.run import labels_document
from offdiag.sdk.embedded.registry import decide
from offdiag.sdk.registry import Decided, DecideQuestion
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.api.requests import weights_by_class
from offdiag_web.app.context import current_registry
from offdiag_web.app.permissions import requires

_MOST_BYTES = 32 << 20
"""Room for the weights of a thousand classes."""

blueprint = resource("decisions")


@operation(
    blueprint,
    "POST",
    "/runs/<run:run_id>/decisions",
    answers={200: DecisionAnswer, 201: DecisionAnswer},
    most_bytes=_MOST_BYTES,
)
@requires(Role.LOGGER)
def decide_anew(run_id: str, json: DecisionAsked) -> tuple[DecisionAnswer, int]:
    """Decide the cases of an evaluated run by costs or a threshold, and say what that changes.

    Without `save_as` nothing is stored. With it the answers are kept as a run, answered with 201;
    the same rule again is the same run.
    """
    found = decide(current_registry().database, run_id, _question(json))
    return _answer(found), 200 if found.saved is None else 201


def _question(asked: DecisionAsked) -> DecideQuestion:
    weights = asked.weights
    if weights is not None and not isinstance(weights, str):
        weights = weights_by_class(weights, asked.labels)
    return DecideQuestion(
        weights=weights,
        threshold=asked.threshold,
        positive=asked.positive,
        prevalence=asked.prevalence,
        save_as=asked.save_as,
        author=author(asked.author),
    )


def _answer(found: Decided) -> DecisionAnswer:
    return DecisionAnswer(
        recipe=dict(found.recipe),
        labels=labels_document(found.matrix_before.labels),
        orientation=SourceOrientation.ACTUAL_ROWS,
        matrix_before=found.matrix_before.counts.tolist(),
        matrix_after=found.matrix_after.counts.tolist(),
        mean_cost_before=Value.of(found.mean_cost_before),
        mean_cost_after=Value.of(found.mean_cost_after),
        difference=Value.of(found.difference),
        recall_changes=values_of(found.recall_changes),
        run=found.saved,
    )
