"""The front page: the datasets, or straight to the runs where there is only one."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, url_for
from werkzeug.wrappers import Response as BaseResponse

from offdiag.services.browse import browse_datasets
from offdiag_web.exports import csv_response
from offdiag_web.presenters.datasets import (
    DATASET_COLUMNS,
    dataset_cards,
    dataset_records,
    dataset_table,
)
from offdiag_web.registry import current_registry

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def home() -> BaseResponse:
    database = current_registry().database
    datasets = browse_datasets(database)
    if len(datasets) < 2:
        return redirect(url_for("runs.runs"))
    cards = dataset_cards(datasets, now=database.clock())
    return make_response(render_template("home.html", datasets=cards))


@blueprint.get("/datasets.<any(json, csv):form>")
def datasets(form: str) -> Response:
    found = browse_datasets(current_registry().database)
    if form == "json":
        return jsonify(datasets=dataset_records(found))
    return csv_response("datasets", DATASET_COLUMNS, dataset_table(found))
