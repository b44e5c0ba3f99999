"""What a correction of the ground truth did to runs."""

from __future__ import annotations

from flask import Blueprint, jsonify, make_response, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.services.truth.impact import TruthImpact, truth_impact
from offdiag_web.addresses.datasets import DatasetAddress, read_start
from offdiag_web.exports import csv_response
from offdiag_web.pages.dataset_frame import DATASET, VERSION, find_in_any_project
from offdiag_web.pages.request_words import TWIN, asked_project
from offdiag_web.presenters.differences import METRIC_TITLES
from offdiag_web.presenters.truth_impact import impact_view, written
from offdiag_web.presenters.truth_impact_export import (
    IMPACT_COLUMNS,
    impact_record,
    impact_rows,
)
from offdiag_web.registry import current_registry

blueprint = Blueprint("truth_impact", __name__)
find_in_any_project(blueprint)

_PATH = f"{DATASET}/truth/<{VERSION}:number>/impact"


@blueprint.get(_PATH)
def page(name: str, number: int) -> Response:
    metric, notices = _asked_metric()
    start, more = read_start(request.args)
    address = DatasetAddress(asked_project(), name)
    view = impact_view(
        _impact(name, number),
        address,
        metric=metric,
        start=start,
        run_url=lambda run_id: url_for("run_matrix.page", run_id=run_id),
    )
    return make_response(
        render_template(
            "truth_impact.html",
            view=view,
            address=address,
            own_url=address.impact_url(number, metric=written(metric), start=start),
            notices=notices + more,
        )
    )


@blueprint.get(f"{_PATH}{TWIN}")
def twin(name: str, number: int, form: str) -> Response:
    metric, _ = _asked_metric()
    impact = _impact(name, number)
    if form == "json":
        return jsonify(impact_record(impact, metric))
    return csv_response(f"impact-of-truth-v{number}", IMPACT_COLUMNS, impact_rows(impact))


def _impact(name: str, number: int) -> TruthImpact:
    return truth_impact(
        current_registry().database, project=asked_project(), dataset=name, number=number
    )


def _asked_metric() -> tuple[str, list[str]]:
    """The metric that ranks, with a notice where there is none of that name."""
    default = next(iter(METRIC_TITLES))
    asked = request.args.get("metric") or default
    if asked in METRIC_TITLES:
        return asked, []
    known = ", ".join(METRIC_TITLES)
    return default, [f"Runs are not ranked by “{asked}” here; known are {known}."]
