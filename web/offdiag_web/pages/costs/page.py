"""The cost matrices, and the page of each with its versions and what they changed."""

from __future__ import annotations

from flask import Blueprint, jsonify, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.services.cost_matrices import (
    CostDetail,
    CostName,
    browse_cost_matrix,
    set_default_costs,
)
from offdiag.store.cost_matrices import cost_overview
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import TWIN, asked_project
from offdiag_web.pages.costs.cost_list import (
    COST_COLUMNS,
    cost_columns,
    cost_grid_rows,
    cost_list_view,
    cost_record,
    cost_records,
    cost_rows,
)
from offdiag_web.pages.costs.view import cost_page_view
from offdiag_web.urls.costs import CostsAddress, read_versions

blueprint = Blueprint("costs", __name__)

COSTS = "/costs/<name:name>"
"""Address of a cost matrix; each action adds its own name to it."""


@blueprint.get("/costs")
def page() -> Response:
    database = current_registry().database
    with database.read() as session:
        view = cost_list_view(cost_overview(session), now=database.clock())
    return make_response(render_template("costs/page.html", view=view))


@blueprint.get(f"/costs{TWIN}")
def twin(form: str) -> Response:
    with current_registry().database.read() as session:
        overview = cost_overview(session)
    if form == "json":
        return jsonify(cost_matrices=cost_records(overview))
    return csv_response("costs", COST_COLUMNS, cost_rows(overview))


@blueprint.get(COSTS)
def matrix(name: str) -> Response:
    detail, address, notices = _asked(name)
    view = cost_page_view(detail, address, now=current_registry().database.clock())
    return make_response(render_template("costs/matrix.html", view=view, notices=notices))


@blueprint.get(f"{COSTS}{TWIN}")
def matrix_twin(name: str, form: str) -> Response:
    detail, _, _ = _asked(name)
    if form == "json":
        return jsonify(cost_record(detail))
    return csv_response("cost-matrix", cost_columns(detail.shown), cost_grid_rows(detail.shown))


@blueprint.post(f"{COSTS}/default")
def set_default(name: str) -> Response:
    """Judge the runs of a dataset by a version of these costs."""
    version, _, _ = read_versions(request.form)
    set_default_costs(
        current_registry().database,
        project=asked_project(),
        dataset=request.form.get("dataset", ""),
        wanted=CostName(name, version),
    )
    return redirect(CostsAddress(asked_project(), name, version).url(), 303)


def _asked(name: str) -> tuple[CostDetail, CostsAddress, list[str]]:
    version, before, notices = read_versions(request.args)
    detail = browse_cost_matrix(
        current_registry().database,
        project=asked_project(),
        name=name,
        version=version,
        before=before,
    )
    return detail, CostsAddress(asked_project(), name, version, before), notices
