"""One model: all its runs in time."""

from __future__ import annotations

from flask import Blueprint, jsonify, make_response, render_template, url_for
from werkzeug.wrappers import Response

from offdiag.services.browse_models import browse_model
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import TWIN
from offdiag_web.presenters.model_page import model_view
from offdiag_web.presenters.run_list_export import RUN_COLUMNS, entry_record, entry_row
from offdiag_web.urls.datasets import ModelAddress

blueprint = Blueprint("models", __name__)


@blueprint.get("/models/<name:name>")
def page(name: str) -> Response:
    database = current_registry().database
    view = model_view(
        browse_model(database, name),
        now=database.clock(),
        run_url=lambda run_id: url_for("run_matrix.page", run_id=run_id),
    )
    return make_response(render_template("model.html", view=view, address=ModelAddress(name)))


@blueprint.get(f"/models/<name:name>{TWIN}")
def twin(name: str, form: str) -> Response:
    model = browse_model(current_registry().database, name)
    runs = [run for on_dataset in model.by_dataset for run in on_dataset]
    if form == "json":
        return jsonify(
            {"model": name, "total": model.total, "runs": [entry_record(run) for run in runs]}
        )
    return csv_response("model-runs", RUN_COLUMNS, map(entry_row, runs))
