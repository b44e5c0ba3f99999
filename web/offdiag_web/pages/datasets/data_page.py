"""What a dataset is made of: classes and their groups, label versions, slices."""

from __future__ import annotations

from flask import Blueprint, make_response, render_template, request
from werkzeug.wrappers import Response

from offdiag.services.datasets import browse_dataset
from offdiag_web.app.context import current_registry
from offdiag_web.app.paths import requested_project
from offdiag_web.pages.datasets.page import DATASET, find_in_any_project
from offdiag_web.pages.datasets.view import dataset_view
from offdiag_web.urls.datasets import read_start

blueprint = Blueprint("dataset_data", __name__)
find_in_any_project(blueprint)


@blueprint.get(f"{DATASET}/data")
def page(name: str) -> Response:
    database = current_registry().database
    start, notices = read_start(request.args)
    detail = browse_dataset(database, project=requested_project(), dataset=name)
    view = dataset_view(detail, start=start, now=database.clock())
    return make_response(render_template("datasets/data.html", view=view, notices=notices))
