"""The first page of a run: headline numbers, confusion matrix, recall of each class."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.metrics.counted import CountedSets
from offdiag_web.app.exports import csv_response
from offdiag_web.components.run_export import (
    AGGREGATE_COLUMNS,
    aggregate_rows,
    grid_columns,
    grid_rows,
    long_columns,
    long_rows,
    matrix_record,
    run_record,
)
from offdiag_web.components.run_frame import RUN, run_page, stored_run
from offdiag_web.pages.run_matrix import sets_page
from offdiag_web.pages.run_matrix.displayed import (
    displayed_run,
    matrix_file_name,
    requested_matrix,
)
from offdiag_web.pages.run_matrix.view import matrix_page
from offdiag_web.urls.matrix import read_layout, read_matrix
from offdiag_web.urls.query_string import groups_text

blueprint = Blueprint("run_matrix", __name__)


@blueprint.get(RUN)
def page(run_id: str) -> Response:
    address, notices = read_matrix(run_id, request.args)
    detail = stored_run(run_id)
    if detail.run.task is Task.MULTILABEL:
        return sets_page.first_page(detail)
    view = None
    if detail.results is not None:
        has_examples = detail.run.source is SourceOrientation.PREDICTIONS
        seen = displayed_run(detail.run, detail.results, address)
        address = seen.address
        view = matrix_page(
            seen.results, address, has_examples=has_examples, grouping=seen.grouping
        )
        notices += [*seen.notices, *view.notices]
    return run_page(
        "run_matrix/page.html",
        detail,
        "matrix",
        address=address,
        collapse=groups_text(address.collapse),
        view=view,
        notices=notices,
    )


@blueprint.get(f"{RUN}.json")
def run_json(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    detail = stored_run(run_id)
    if detail.run.task is Task.MULTILABEL:
        return sets_page.run_json(detail)
    if detail.results is None:
        return jsonify(run_record(detail, address))
    seen = displayed_run(detail.run, detail.results, address)
    shown = replace(detail, results=seen.results)
    return jsonify(run_record(shown, seen.address, seen.grouping))


@blueprint.get(f"{RUN}.csv")
def run_csv(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    seen = requested_matrix(address)
    name = f"{run_id}-collapsed" if seen.collapse else run_id
    return csv_response(name, AGGREGATE_COLUMNS, aggregate_rows(seen.results))


@blueprint.get(f"{RUN}/matrix.json")
def matrix_json(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    seen = requested_matrix(address)
    if isinstance(seen.results.counted, CountedSets):
        return sets_page.matrix_json(seen.results.counted)
    return jsonify(matrix_record(seen.results.matrix, seen.address, seen.grouping))


@blueprint.get(f"{RUN}/matrix.csv")
def matrix_csv(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    seen = requested_matrix(address)
    if isinstance(seen.results.counted, CountedSets):
        return sets_page.matrix_csv(run_id, seen.results.counted)
    matrix, address, grouping = seen.results.matrix, seen.address, seen.grouping
    name = matrix_file_name(address)
    if read_layout(request.args) == "grid":
        columns = grid_columns(matrix, address, grouping)
        return csv_response(name, columns, grid_rows(matrix, address, grouping))
    return csv_response(name, long_columns(address), long_rows(matrix, address, grouping))
