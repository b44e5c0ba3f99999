"""What two versions of the ground truth of a dataset differ in."""

from __future__ import annotations

from flask import Blueprint, make_response, render_template, request
from werkzeug.wrappers import Response

from offdiag.records.truth import SAMPLE_COLUMNS, difference_document, sample_rows
from offdiag.services.truth.versions import TruthComparison, compare_truths
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.paths import TWIN, asked_project
from offdiag_web.pages.datasets.difference import difference_view
from offdiag_web.pages.datasets.page import DATASET, VERSION, find_in_any_project
from offdiag_web.urls.datasets import DatasetAddress, read_start

blueprint = Blueprint("truth_difference", __name__)
find_in_any_project(blueprint)

_PATH = f"{DATASET}/truth/<{VERSION}:before>..<{VERSION}:after>"


@blueprint.get(_PATH)
def page(name: str, before: int, after: int) -> Response:
    start, notices = read_start(request.args)
    address = _address(name)
    view = difference_view(_compared(name, before, after), address, start=start)
    return make_response(
        render_template(
            "datasets/difference.html",
            view=view,
            address=address,
            csv_url=address.difference_url(before, after, "csv"),
            json_url=address.difference_url(before, after, "json"),
            impact_url=address.impact_url(after),
            notices=notices,
        )
    )


@blueprint.get(f"{_PATH}{TWIN}")
def twin(name: str, before: int, after: int, form: str) -> Response:
    comparison = _compared(name, before, after)
    if form == "json":
        return json_response(
            difference_document(comparison, project=asked_project(), dataset=name)
        )
    file_name = f"changed-labels-v{before}-v{after}"
    return csv_response(file_name, SAMPLE_COLUMNS, sample_rows(comparison.difference))


def _compared(name: str, before: int, after: int) -> TruthComparison:
    return compare_truths(
        current_registry().database,
        project=asked_project(),
        dataset=name,
        before=before,
        after=after,
    )


def _address(name: str) -> DatasetAddress:
    return DatasetAddress(asked_project(), name)
