"""The datasets, and the page of each with its classes and the versions of its truth."""

from __future__ import annotations

from flask import Blueprint, jsonify, make_response, render_template, request
from werkzeug.wrappers import Response

from offdiag.services.browse import browse_datasets
from offdiag.services.browse_datasets import DatasetDetail, browse_dataset
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import TWIN, asked_project
from offdiag_web.pages.dataset_frame import DATASET, find_in_any_project
from offdiag_web.presenters.dataset_export import (
    CLASS_COUNT_COLUMNS,
    class_count_rows,
    dataset_record,
)
from offdiag_web.presenters.dataset_page import dataset_view
from offdiag_web.presenters.datasets import (
    DATASET_COLUMNS,
    dataset_cards,
    dataset_records,
    dataset_table,
)
from offdiag_web.urls.datasets import read_start

blueprint = Blueprint("datasets", __name__)
find_in_any_project(blueprint)


@blueprint.get("/datasets")
def page() -> Response:
    database = current_registry().database
    cards = dataset_cards(browse_datasets(database), now=database.clock())
    return make_response(render_template("datasets.html", datasets=cards))


@blueprint.get(f"/datasets{TWIN}")
def twin(form: str) -> Response:
    found = browse_datasets(current_registry().database)
    if form == "json":
        return jsonify(datasets=dataset_records(found))
    return csv_response("datasets", DATASET_COLUMNS, dataset_table(found))


@blueprint.get(DATASET)
def dataset(name: str) -> Response:
    start, notices = read_start(request.args)
    view = dataset_view(_stored(name), start=start, now=current_registry().database.clock())
    return make_response(render_template("dataset.html", view=view, notices=notices))


@blueprint.get(f"{DATASET}{TWIN}")
def dataset_twin(name: str, form: str) -> Response:
    detail = _stored(name)
    if form == "json":
        return jsonify(dataset_record(detail))
    return csv_response("dataset-classes", CLASS_COUNT_COLUMNS, class_count_rows(detail))


def _stored(name: str) -> DatasetDetail:
    return browse_dataset(current_registry().database, project=asked_project(), dataset=name)
