"""API operations on results of a run: evaluation, matrix, slices, curves, costs and examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import EvaluationPending
from offdiag.flags.assessment import assess
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import PREDICTED_AXIS, swap_axes
from offdiag.records.runs.curve import Curves, CurvesQuery, asked_curves
from offdiag.records.runs.evaluation import (
    Cell,
    EvaluationQuery,
    EvaluationResponse,
    HistoryResponse,
    Laid,
    MatrixQuery,
    MatrixResponse,
    Normalization,
    RunCostResponse,
    RunWithResults,
    asked_history,
    asked_run_with_results,
    collapsed_answer,
    costs_answer,
    evaluation_answer,
    judged_flags,
    raised_flag,
)
from offdiag.records.runs.example import ExamplePage, ExamplesQuery, example_page
from offdiag.records.runs.multilabel import ConfusedLabelsFound, ConfusedQuery, asked_confused
from offdiag.records.runs.run import outdated_document
from offdiag.records.runs.slices import (
    Fairness,
    FairnessQuery,
    RunSlices,
    SlicesQuery,
    asked_fairness,
    asked_slices,
)
from offdiag.services.evaluation.compute import collapse_evaluation
from offdiag.services.evaluation.results import stored_evaluation
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.examples.page import browse_examples
from offdiag.services.examples.selection import Cursor, Place
from offdiag.services.flags.page import raised_flags
from offdiag.services.flags.rules import thresholds_in
from offdiag.store.run_page import RunDetail, RunResults, read_run
from offdiag_web.api.operations import operation, resource
from offdiag_web.api.requests import read_token, write_token
from offdiag_web.app.context import current_registry, kept_suspects

LARGEST_DENSE = 1_000
"""Matrices with up to this many classes are sent in full, larger ones as their non-empty cells."""

_AXES = {Laid.ACTUAL_ROWS: ["actual", "predicted"], Laid.ACTUAL_COLUMNS: ["predicted", "actual"]}


def matrix_answer(detail: RunDetail, wanted: MatrixQuery) -> MatrixResponse:
    results = _results(detail)
    matrix = results.matrix
    axes = _AXES[wanted.orientation]
    is_dense = matrix.n_classes <= LARGEST_DENSE
    return MatrixResponse(
        run=detail.run.id,
        labels=list(matrix.labels.names),
        orientation=wanted.orientation,
        axes=axes,
        normalize=wanted.normalize if is_dense else Normalization.NONE,
        divided_by=_divided_by(wanted.normalize, axes) if is_dense else None,
        n_cases=matrix.total,
        matrix=_laid_out(matrix, wanted) if is_dense else None,
        cells=None if is_dense else _cells(matrix),
        matrix_digest=results.facts.matrix_digest,
        outdated=outdated_document(detail.outdated),
    )


def _divided_by(how: Normalization, axes: list[str]) -> str | None:
    match how:
        case Normalization.NONE:
            return None
        case Normalization.ALL:
            return "all"
        case Normalization.ROW:
            return axes[0]
        case Normalization.COLUMN:
            return axes[1]


def _laid_out(matrix: ConfusionMatrix, wanted: MatrixQuery) -> list[list[int | float | None]]:
    counts, totals = matrix.counts, _totals(matrix, wanted)
    shares: NDArray[Any] = counts
    if totals is not None:
        filled = np.where(totals == 0, 1, totals)
        shares = np.where(totals == 0, np.nan, counts / filled)
    if wanted.orientation is Laid.ACTUAL_COLUMNS:
        shares = swap_axes(shares)
    if totals is None:
        return shares.tolist()  # type: ignore[no-any-return]  # whole numbers
    return [[None if share != share else share for share in row] for row in shares.tolist()]  # noqa: PLR0124 - NaN


def _totals(matrix: ConfusionMatrix, wanted: MatrixQuery) -> NDArray[np.int64] | None:
    """The divisor of each count, in a shape that broadcasts over the counts."""
    divided_by = _divided_by(wanted.normalize, _AXES[wanted.orientation])
    if divided_by is None:
        return None
    if divided_by == "all":
        return np.asarray(matrix.total)
    if divided_by == "actual":
        return np.expand_dims(matrix.actual, PREDICTED_AXIS)
    return matrix.predicted


def _cells(matrix: ConfusionMatrix) -> list[Cell]:
    names = matrix.labels.names
    return [
        Cell(actual=names[a], predicted=names[p], count=int(matrix.counts[a, p]))
        for a, p in np.argwhere(matrix.counts).tolist()
    ]


blueprint = resource("results")


@operation(blueprint, "GET", "/runs/<run:run_id>/results")
def get_run_with_results(run_id: str) -> RunWithResults:
    """Read everything about a run, with its matrix and all metrics."""
    return asked_run_with_results(current_registry().database, run_id)


@operation(blueprint, "GET", "/runs/<run:run_id>/fairness")
def get_fairness(run_id: str, query: FairnessQuery) -> Fairness:
    """Compare the groups of a slice column by the usual criteria of fairness.

    Differences and ratios are those of the groups that are furthest apart, with 95 % intervals
    that account for this selection. Groups that are too small are left out and named.
    """
    return asked_fairness(current_registry().database, run_id, query)


@operation(blueprint, "GET", "/runs/<run:run_id>/evaluation")
def get_evaluation(run_id: str, query: EvaluationQuery) -> EvaluationResponse:
    """Read the matrix of a run with all metrics and flags. Until a run is evaluated, the response
    is 409 with the code `evaluation_pending`, or `evaluation_failed` if the evaluation failed. A
    slice is evaluated on the first request. With collapsed groups, metrics are those of the
    collapsed matrix; metrics of scores and costs apply to single classes and are not included.
    """
    registry = current_registry()
    if query.slice is not None:
        stored = evaluation_of_slice(registry.database, run_id, query.slice)
    else:
        stored = stored_evaluation(registry.database, run_id)
    thresholds = thresholds_in(registry.settings.flags)
    if query.collapse:
        groups = collapse_evaluation(registry.database, stored, query.collapse)
        judged = assess(groups.matrix, thresholds)
        return collapsed_answer(stored, groups, judged)
    if query.slice is not None:
        judged = assess(stored.counted, thresholds)
        return evaluation_answer(
            stored, judged_flags(judged), badge=judged.badge, may_hide=judged.may_hide
        )
    flags = raised_flags(registry.database, run_id)
    return evaluation_answer(
        stored,
        list(map(raised_flag, flags)),
        badge=bool(stored.hides_minority),
        may_hide=not stored.hides_minority and any(flag.content.may_hide for flag in flags),
    )


@operation(blueprint, "GET", "/runs/<run:run_id>/slices")
def get_slices(run_id: str, query: SlicesQuery) -> RunSlices:
    """Read on which slices a run is worse than on the rest, corrected for all tests."""
    return asked_slices(current_registry().database, run_id, query)


@operation(blueprint, "GET", "/runs/<run:run_id>/confusion-matrix")
def get_confusion_matrix(run_id: str, query: MatrixQuery) -> MatrixResponse:
    """Read the confusion matrix of a run as counts or shares, in a given orientation."""
    with current_registry().database.read() as session:
        detail = read_run(session, run_id)
    return matrix_answer(detail, query)


@operation(blueprint, "GET", "/runs/<run:run_id>/curves")
def get_curves(run_id: str, query: CurvesQuery) -> Curves:
    """Read thresholds with exact counts, calibration bins and histograms of the scores."""
    return asked_curves(current_registry().database, run_id, query)


@operation(blueprint, "GET", "/runs/<run:run_id>/costs")
def get_run_costs(run_id: str) -> RunCostResponse:
    """Read what the errors of a run cost under the costs of its dataset."""
    with current_registry().database.read() as session:
        detail = read_run(session, run_id)
    _results(detail)
    return costs_answer(detail)


@operation(blueprint, "GET", "/runs/<run:run_id>/confused-labels")
def get_confused_labels(run_id: str, query: ConfusedQuery) -> ConfusedLabelsFound:
    """Read which labels of a multi-label run are confused, in sentences with their evidence."""
    return asked_confused(current_registry().database, run_id, query)


@operation(blueprint, "GET", "/runs/<run:run_id>/history")
def get_history(run_id: str) -> HistoryResponse:
    """Read all evaluations of a run and of its slices, oldest first, with their differences."""
    return asked_history(current_registry().database, run_id)


def _results(detail: RunDetail) -> RunResults:
    if detail.results is None:
        raise EvaluationPending(
            f"run {detail.run.id} has no results yet; it is {detail.run.state.value}.",
            field="run",
            hint="Ask again once it has been evaluated.",
        )
    return detail.results


@operation(blueprint, "GET", "/runs/<run:run_id>/examples")
def list_examples(run_id: str, query: ExamplesQuery) -> ExamplePage:
    """Read single predictions, by default the most confident errors first."""
    page = browse_examples(
        current_registry().database,
        run_id,
        query.question(),
        cursor=_cursor(read_token(query.page_token)),
        size=query.limit,
        kept=kept_suspects(),
    )
    after = None if page.after is None else page.after.place
    token = write_token(None if after is None else [after.key, after.index])
    return example_page(run_id, page, token)


def _cursor(token: list[Any] | None) -> Cursor | None:
    return None if token is None else Cursor(Place(*token))
