"""What a correction of the ground truth did to runs."""

from __future__ import annotations

from flask import Blueprint, make_response, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.records.truth import (
    IMPACT_COLUMNS,
    ImpactInWords,
    impact_document,
    impact_rows,
)
from offdiag.services.truth.impact import TruthImpact, truth_impact
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import TWIN, requested_project
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.components.datasets import DATASET, VERSION, find_in_any_project, titles_for
from offdiag_web.pages.datasets.impact import (
    impact_sentence,
    impact_view,
    written,
)
from offdiag_web.urls.datasets import DatasetAddress, read_start

blueprint = Blueprint("truth_impact", __name__)
find_in_any_project(blueprint)

_PATH = f"{DATASET}/truth/<{VERSION}:number>/impact"


@blueprint.get(_PATH)
def page(name: str, number: int) -> Response:
    impact = _impact(name, number)
    metric, notices = _requested_metric(impact)
    start, more = read_start(request.args)
    address = DatasetAddress(requested_project(), name)
    view = impact_view(
        impact,
        address,
        metric=metric,
        start=start,
        run_url=lambda run_id: url_for("run_matrix.page", run_id=run_id),
    )
    return make_response(
        render_template(
            "datasets/impact.html",
            view=view,
            address=address,
            own_url=address.impact_url(number, metric=written(metric), start=start),
            notices=notices + more,
        )
    )


@blueprint.get(f"{_PATH}{TWIN}")
def twin(name: str, number: int, form: str) -> Response:
    impact = _impact(name, number)
    metric, _ = _requested_metric(impact)
    if form == "json":
        return json_response(
            ImpactInWords(
                **dict(impact_document(impact)),
                metric=metric,
                sentence=impact_sentence(impact, metric),
            )
        )
    return csv_response(f"impact-of-truth-v{number}", IMPACT_COLUMNS, impact_rows(impact))


def _impact(name: str, number: int) -> TruthImpact:
    return truth_impact(
        current_registry().database, project=requested_project(), dataset=name, number=number
    )


def _requested_metric(impact: TruthImpact) -> tuple[str, list[str]]:
    """The metric that ranks, with a notice where there is none of that name."""
    known = titles_for(impact.dataset.task)
    default = next(iter(known))
    asked = request.args.get("metric") or default
    if asked in known:
        return asked, []
    return default, [f"Runs are not ranked by “{asked}” here; known are {', '.join(known)}."]
