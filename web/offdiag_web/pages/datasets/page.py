"""The datasets, one dataset, and finding out which one is meant."""

from __future__ import annotations

from urllib.parse import quote

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.errors import InvalidInput, NotFound
from offdiag.records.dataset import (
    CLASS_COUNT_COLUMNS,
    DATASET_COLUMNS,
    DatasetList,
    class_count_rows,
    dataset_document,
    dataset_row,
    dataset_summary,
)
from offdiag.services.datasets import DatasetDetail, browse_dataset
from offdiag.store.dataset_page import dataset_overview, projects_with_dataset
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import domain_response
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.paths import TWIN, requested_project
from offdiag_web.components.datasets import dataset_cards
from offdiag_web.pages.datasets.view import dataset_view
from offdiag_web.urls.datasets import read_start
from offdiag_web.urls.query_string import with_query

DATASET = "/datasets/<name:name>"
"""Address of a dataset; each page adds its own name to it."""
VERSION = "int(min=1, max=2147483647)"
"""Converter for the number of a truth version."""


def find_in_any_project(blueprint: Blueprint) -> None:
    """Let the pages of a blueprint find a dataset of another project by its name alone.

    That costs a statement, and only where the default project has no such dataset. Where it
    is clear what was meant, the answer leads to the address that says so.
    """

    @blueprint.errorhandler(NotFound)
    def look_elsewhere(error: NotFound) -> Response:
        name = (request.view_args or {}).get("name")
        if error.field != "dataset" or name is None or "project" in request.args:
            return domain_response(error)
        with current_registry().database.read() as session:
            projects = projects_with_dataset(session, name)
        if len(projects) == 1:
            query = {**request.args.to_dict(), "project": projects[0]}
            return redirect(with_query(quote(request.path, safe="/~:@,"), query))
        if not projects or DEFAULT_PROJECT in projects:
            return domain_response(error)
        return domain_response(
            InvalidInput(
                f"several projects have a dataset {name!r}.",
                field="project",
                hint=f"Add ?project= and one of {', '.join(projects)} to the address.",
            )
        )


blueprint = Blueprint("datasets", __name__)
find_in_any_project(blueprint)


@blueprint.get("/datasets")
def page() -> Response:
    database = current_registry().database
    with database.read() as session:
        cards = dataset_cards(dataset_overview(session), now=database.clock())
    return make_response(render_template("datasets/page.html", datasets=cards))


@blueprint.get(f"/datasets{TWIN}")
def twin(form: str) -> Response:
    with current_registry().database.read() as session:
        found = [dataset_summary(*each) for each in dataset_overview(session)]
    if form == "json":
        return json_response(DatasetList(datasets=found))
    return csv_response("datasets", DATASET_COLUMNS, map(dataset_row, found))


@blueprint.get(DATASET)
def dataset(name: str) -> Response:
    start, notices = read_start(request.args)
    view = dataset_view(_stored(name), start=start, now=current_registry().database.clock())
    return make_response(render_template("datasets/data.html", view=view, notices=notices))


@blueprint.get(f"{DATASET}{TWIN}")
def dataset_twin(name: str, form: str) -> Response:
    detail = _stored(name)
    if form == "json":
        return json_response(dataset_document(detail))
    return csv_response("dataset-classes", CLASS_COUNT_COLUMNS, class_count_rows(detail))


def _stored(name: str) -> DatasetDetail:
    return browse_dataset(current_registry().database, project=requested_project(), dataset=name)
