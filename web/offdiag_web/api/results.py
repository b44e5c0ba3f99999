"""Results of a run: its evaluation, matrix, flags, curves, costs and history."""

from __future__ import annotations

from offdiag.errors import Conflict, EvaluationPending
from offdiag.flags.assessment import assess_counted
from offdiag.records.evaluation import (
    CurvesAnswer,
    CurvesWanted,
    EvaluationAnswer,
    EvaluationWanted,
    HistoryAnswer,
    MatrixAnswer,
    MatrixWanted,
    RunCostAnswer,
)
from offdiag.services.browse import browse_run
from offdiag.services.curves.browse import all_curves, browse_curves
from offdiag.services.evaluation.collapsed import collapse_evaluation
from offdiag.services.evaluation.history import run_history
from offdiag.services.evaluation.reading import stored_evaluation
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.flags.inbox import flags_that_fire
from offdiag.services.flags.settings import thresholds_in
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.api.answers import evaluations as present
from offdiag_web.api.answers.curves import curves_answer
from offdiag_web.api.answers.matrices import matrix_answer
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry

blueprint = resource("results")


@operation(blueprint, "GET", "/runs/<run:run_id>/evaluation", answers=EvaluationAnswer)
def get_evaluation(run_id: str, query: EvaluationWanted) -> EvaluationAnswer:
    """Read the matrix of a run, every metric of it and what the rules say.

    Until a run has been evaluated the answer is 409 with the code `evaluation_pending`; where
    that was given up, `evaluation_failed`. A slice is evaluated when somebody asks for it. With
    groups collapsed, metrics are those of the matrix that is left; metrics of scores and costs
    are about single classes and are not among them.
    """
    registry = current_registry()
    if query.slice is not None:
        stored = evaluation_of_slice(registry.database, run_id, query.slice)
    else:
        stored = stored_evaluation(registry.database, run_id)
    thresholds = thresholds_in(registry.settings.flags)
    if query.collapse:
        groups = collapse_evaluation(registry.database, stored, query.collapse)
        judged = assess_counted(groups.matrix, thresholds)
        return present.collapsed_answer(stored, groups, judged)
    if query.slice is not None:
        judged = assess_counted(stored.counted, thresholds)
        return present.evaluation_answer(
            stored, present.judged(judged), badge=judged.badge, may_hide=judged.may_hide
        )
    flags = flags_that_fire(registry.database, run_id)
    return present.evaluation_answer(
        stored,
        list(map(present.raised, flags)),
        badge=bool(stored.hides_minority),
        may_hide=not stored.hides_minority and any(flag.content.may_hide for flag in flags),
    )


@operation(blueprint, "GET", "/runs/<run:run_id>/confusion-matrix", answers=MatrixAnswer)
def get_confusion_matrix(run_id: str, query: MatrixWanted) -> MatrixAnswer:
    """Read the confusion matrix of a run as counts or shares, in a named orientation."""
    results = _results(browse_run(current_registry().database, run_id))
    return matrix_answer(run_id, results.matrix, results.facts.matrix_digest, query)


@operation(blueprint, "GET", "/runs/<run:run_id>/curves", answers=CurvesAnswer)
def get_curves(run_id: str, query: CurvesWanted) -> CurvesAnswer:
    """Read thresholds with exact counts, calibration bins and histograms of the scores."""
    database = current_registry().database
    if query.positive is None:
        found = all_curves(database, run_id)
    else:
        found = browse_curves(database, run_id, positive=query.positive)
    if found.missing is not None:
        raise Conflict(
            f"run {run_id} has no curves ({found.missing.value.replace('_', ' ')}).",
            field="run",
            hint="Log scores with the predictions, and wait for the evaluation.",
        )
    return curves_answer(found)


@operation(blueprint, "GET", "/runs/<run:run_id>/costs", answers=RunCostAnswer)
def get_run_costs(run_id: str) -> RunCostAnswer:
    """Read what the errors of a run cost under the costs of its dataset."""
    detail = browse_run(current_registry().database, run_id)
    _results(detail)
    return present.costs_answer(detail)


@operation(blueprint, "GET", "/runs/<run:run_id>/history", answers=HistoryAnswer)
def get_history(run_id: str) -> HistoryAnswer:
    """Read every evaluation of a run and of its slices, oldest first, and what differed."""
    return present.history_answer(run_id, run_history(current_registry().database, run_id))


def _results(detail: RunDetail) -> RunResults:
    if detail.results is None:
        raise EvaluationPending(
            f"run {detail.run.id} has no results yet; it is {detail.run.state.value}.",
            field="run",
            hint="Ask again once it has been evaluated.",
        )
    return detail.results
