"""The page of score curves of a run, and its exports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response

from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import TOP_LABEL, ScoreCurve
from offdiag.records.runs.curve import curves_document
from offdiag.services.curves import RunCurves, all_curves, browse_curves
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import SENT_BY_FORM
from offdiag_web.app.exports import Cell, csv_response, json_response
from offdiag_web.app.parameters import understood
from offdiag_web.components.curves import drawn_bins
from offdiag_web.components.runs.frame import RUN, results_of
from offdiag_web.pages.run_curves.address import CurvesAddress, Part, read_curves, read_part
from offdiag_web.pages.run_curves.view import curves_view

_POINT_COLUMNS = (
    *("class", "threshold", "reported_when", "true_positives", "false_positives"),
    *("false_negatives", "true_negatives", "recall", "false_positive_rate", "precision"),
)
_BIN_COLUMNS = (
    *("class", "bin_low", "bin_high", "cases", "mean_score", "observed_share"),
    *("ci_low", "ci_high", "calibrated_low", "calibrated_high"),
)
_HISTOGRAM_COLUMNS = ("class", "bin_low", "bin_high", "positive", "negative")


def curve_table(
    found: RunCurves, address: CurvesAddress, part: Part
) -> tuple[tuple[str, ...], Iterator[Sequence[Cell]]]:
    """Columns and rows of one part of the curves, for all classes that were found."""
    labels = found.detail.run.labels
    curves = [*found.shown, *([] if found.top_label is None else [found.top_label])]
    if part == "reliability":
        return _BIN_COLUMNS, (row for curve in curves for row in _bin_rows(curve, labels))
    if part == "histogram":
        return _HISTOGRAM_COLUMNS, (
            row for curve in curves for row in _histogram_rows(curve, labels)
        )
    added = () if address.prevalence is None else ("precision_at_prevalence",)
    return (*_POINT_COLUMNS, *added), (
        row for curve in curves for row in _point_rows(curve, labels, address.prevalence)
    )


def _name(curve: ScoreCurve, labels: LabelSet) -> str | None:
    """The name of the class; None for the top label, which no class can be mistaken for."""
    return None if curve.code == TOP_LABEL else labels.names[curve.code]


def _point_rows(
    curve: ScoreCurve, labels: LabelSet, prevalence: float | None
) -> Iterator[tuple[Cell, ...]]:
    columns = _point_columns(curve.points, prevalence)
    name, when = _name(curve, labels), _reported_when(curve.points)
    for threshold, *rest in zip(*columns.values(), strict=True):
        yield (name, threshold, when, *rest)


def _point_columns(
    points: OperatingPoints, prevalence: float | None
) -> dict[str, list[float | None]]:
    """Every operating point by column, with None for what is undefined."""
    columns = {
        "threshold": points.thresholds,
        "true_positives": points.true_positives,
        "false_positives": points.false_positives,
        "false_negatives": points.n_positive - points.true_positives,
        "true_negatives": points.n_negative - points.false_positives,
        "recall": points.recall,
        "false_positive_rate": points.false_positive_rate,
        "precision": points.precision(),
    }
    if prevalence is not None:
        columns["precision_at_prevalence"] = points.precision(prevalence)
    return {
        name: [_finite(value) for value in column.tolist()] for name, column in columns.items()
    }


def _reported_when(points: OperatingPoints) -> str:
    return "score < threshold" if points.reports_below else "score >= threshold"


def _bin_rows(curve: ScoreCurve, labels: LabelSet) -> Iterator[tuple[Cell, ...]]:
    if curve.bins is None:
        return
    bins = curve.bins
    for place, drawn in enumerate(drawn_bins(bins)):
        count = drawn.count
        yield (
            *(_name(curve, labels), drawn.low, drawn.high, count),
            float(bins.score_sum[place]) / count if count else None,
            int(bins.happened[place]) / count if count else None,
            *(drawn.share_low, drawn.share_high, drawn.calibrated_low, drawn.calibrated_high),
        )


def _histogram_rows(curve: ScoreCurve, labels: LabelSet) -> Iterator[tuple[Cell, ...]]:
    histogram = curve.histogram
    for place in range(len(histogram.positive)):
        yield (
            _name(curve, labels),
            float(histogram.edges[place]),
            float(histogram.edges[place + 1]),
            int(histogram.positive[place]),
            int(histogram.negative[place]),
        )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


blueprint = Blueprint("run_curves", __name__)


@blueprint.get(f"{RUN}/curves")
def page(run_id: str) -> Response:
    address, notices = read_curves(run_id, request.args)
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    try:
        found = _browse(address)
    except InvalidInput as error:
        if error.field != "positive":
            raise
        notices.append(f"There is no class “{address.positive}” here.")
        address = replace(address, positive=None, prevalence=None)
        found = _browse(address)
    if address.prevalence is not None and found.positive is None:
        notices.append("A prevalence belongs to one class: choose a class first.")
        address = replace(address, prevalence=None)
    return curves_view(found, address, notices)


@blueprint.get(f"{RUN}/curves.json")
def curves_json(run_id: str) -> Response:
    found, _ = _exported(run_id)
    return json_response(curves_document(found))


@blueprint.get(f"{RUN}/curves.csv")
def curves_csv(run_id: str) -> Response:
    part = read_part(request.args)
    found, address = _exported(run_id)
    columns, rows = curve_table(found, address, part)
    name = f"{run_id}-curves" if part == "points" else f"{run_id}-curves-{part}"
    return csv_response(name, columns, rows)


def _browse(address: CurvesAddress) -> RunCurves:
    return browse_curves(
        current_registry().database,
        address.run_id,
        positive=address.positive,
        ranked_by=address.ranked_by,
        start=address.start,
        part=address.part,
    )


def _exported(run_id: str) -> tuple[RunCurves, CurvesAddress]:
    """The curves of one class if the address names one, else all of them."""
    address = understood(read_curves(run_id, request.args))
    if address.positive is None:
        found = all_curves(current_registry().database, run_id, part=address.part)
    else:
        found = _browse(address)
    if found.missing is not None:
        results_of(found.detail)
        raise Conflict(
            f"run {run_id} has no curves ({found.missing.value.replace('_', ' ')}).",
            field="run",
            hint="Its page of curves says why.",
        )
    return found, address
