"""Results of a run: its evaluation, matrix, flags, curves, costs and history."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import Conflict, EvaluationPending
from offdiag.flags.assessment import assess_counted
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import PREDICTED_AXIS, swap_axes
from offdiag.metrics.scores.calibration import CalibrationBins, calibrated_shares
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import TOP_LABEL, ScoreCurve
from offdiag.records import evaluation as records
from offdiag.records.evaluation import (
    Cell,
    CurvesAnswer,
    CurvesQuery,
    EvaluationAnswer,
    EvaluationQuery,
    HistoryAnswer,
    Laid,
    MatrixAnswer,
    MatrixQuery,
    Normalization,
    RunCostAnswer,
    collapsed_answer,
    costs_answer,
    evaluation_answer,
    history_answer,
    judged_flags,
    raised_flag,
)
from offdiag.services.curves import RunCurves, all_curves, browse_curves
from offdiag.services.evaluation.compute import collapse_evaluation
from offdiag.services.evaluation.results import stored_evaluation
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.flags.page import raised_flags
from offdiag.services.flags.rules import thresholds_in
from offdiag.services.runs import run_history
from offdiag.store.run_page import RunDetail, RunResults, read_run
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry


def curves_answer(found: RunCurves) -> records.CurvesAnswer:
    names = found.detail.run.labels.names
    return records.CurvesAnswer(
        run=found.detail.run.id,
        positive_label=found.detail.run.positive_label,
        curves=[_curve(curve, names) for curve in found.shown],
        top_label=None if found.top_label is None else _curve(found.top_label, names),
    )


def _curve(curve: ScoreCurve, names: tuple[str, ...]) -> records.Curve:
    histogram = curve.histogram
    return records.Curve(
        label=None if curve.code == TOP_LABEL else names[curve.code],
        points=_points(curve.points),
        bins=None if curve.bins is None else _bins(curve.bins),
        histogram=records.Histogram(
            edges=histogram.edges.tolist(),
            positive=histogram.positive.tolist(),
            negative=histogram.negative.tolist(),
        ),
    )


def _bins(bins: CalibrationBins) -> records.Bins:
    low, high = (_numbers(share) for share in calibrated_shares(bins))
    return records.Bins(
        edges=bins.edges.tolist(),
        count=bins.count.tolist(),
        happened=bins.happened.tolist(),
        score_sum=bins.score_sum.tolist(),
        calibrated_low=low,
        calibrated_high=high,
    )


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _points(points: OperatingPoints) -> records.Points:
    return records.Points(
        thresholds=points.thresholds.tolist(),
        true_positives=points.true_positives.tolist(),
        false_positives=points.false_positives.tolist(),
        n_positive=points.n_positive,
        n_negative=points.n_negative,
        n_thresholds=points.n_thresholds,
        reports_below=points.reports_below,
    )


LARGEST_DENSE = 1_000
"""Matrices up to this many classes travel in full, larger ones as their filled cells."""

_AXES = {Laid.ACTUAL_ROWS: ["actual", "predicted"], Laid.ACTUAL_COLUMNS: ["predicted", "actual"]}


def matrix_answer(
    run_id: str, matrix: ConfusionMatrix, digest: str, wanted: MatrixQuery
) -> MatrixAnswer:
    axes = _AXES[wanted.orientation]
    is_dense = matrix.n_classes <= LARGEST_DENSE
    return MatrixAnswer(
        run=run_id,
        labels=list(matrix.labels.names),
        orientation=wanted.orientation,
        axes=axes,
        normalize=wanted.normalize if is_dense else Normalization.NONE,
        divided_by=_divided_by(wanted.normalize, axes) if is_dense else None,
        n_cases=matrix.total,
        matrix=_laid_out(matrix, wanted) if is_dense else None,
        cells=None if is_dense else _cells(matrix),
        matrix_digest=digest,
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
    """What each count is divided by, laid out so that it stretches over the counts."""
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


@operation(blueprint, "GET", "/runs/<run:run_id>/evaluation", answers=EvaluationAnswer)
def get_evaluation(run_id: str, query: EvaluationQuery) -> EvaluationAnswer:
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
        return collapsed_answer(stored, groups, judged)
    if query.slice is not None:
        judged = assess_counted(stored.counted, thresholds)
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


@operation(blueprint, "GET", "/runs/<run:run_id>/confusion-matrix", answers=MatrixAnswer)
def get_confusion_matrix(run_id: str, query: MatrixQuery) -> MatrixAnswer:
    """Read the confusion matrix of a run as counts or shares, in a named orientation."""
    with current_registry().database.read() as session:
        results = _results(read_run(session, run_id))
    return matrix_answer(run_id, results.matrix, results.facts.matrix_digest, query)


@operation(blueprint, "GET", "/runs/<run:run_id>/curves", answers=CurvesAnswer)
def get_curves(run_id: str, query: CurvesQuery) -> CurvesAnswer:
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
    with current_registry().database.read() as session:
        detail = read_run(session, run_id)
    _results(detail)
    return costs_answer(detail)


@operation(blueprint, "GET", "/runs/<run:run_id>/history", answers=HistoryAnswer)
def get_history(run_id: str) -> HistoryAnswer:
    """Read every evaluation of a run and of its slices, oldest first, and what differed."""
    return history_answer(run_id, run_history(current_registry().database, run_id))


def _results(detail: RunDetail) -> RunResults:
    if detail.results is None:
        raise EvaluationPending(
            f"run {detail.run.id} has no results yet; it is {detail.run.state.value}.",
            field="run",
            hint="Ask again once it has been evaluated.",
        )
    return detail.results
