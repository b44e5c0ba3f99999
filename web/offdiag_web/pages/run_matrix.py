"""The first page of a run: headline numbers, confusion matrix, recall of each class."""

from __future__ import annotations

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from offdiag.domain.orientation import SourceOrientation
from offdiag_web.addresses.matrix import MatrixAddress, read_layout, read_matrix
from offdiag_web.exports import csv_response
from offdiag_web.pages.run_frame import RUN, results_of, run_page, stored_run
from offdiag_web.presenters.matrix_export import (
    grid_columns,
    grid_rows,
    long_columns,
    long_rows,
    matrix_record,
)
from offdiag_web.presenters.matrix_page import matrix_page
from offdiag_web.presenters.run_export import AGGREGATE_COLUMNS, aggregate_rows, run_record

blueprint = Blueprint("run_matrix", __name__)


@blueprint.get(RUN)
def page(run_id: str) -> Response:
    address, notices = read_matrix(run_id, request.args)
    detail = stored_run(run_id)
    view = None
    if detail.results is not None:
        has_examples = detail.run.source is SourceOrientation.PREDICTIONS
        view = matrix_page(detail.results, address, has_examples=has_examples)
        notices += view.notices
    return run_page(
        "run_matrix.html", detail, "matrix", address=address, view=view, notices=notices
    )


@blueprint.get(f"{RUN}.json")
def run_json(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    return jsonify(run_record(stored_run(run_id), address))


@blueprint.get(f"{RUN}.csv")
def run_csv(run_id: str) -> Response:
    results = results_of(stored_run(run_id))
    return csv_response(run_id, AGGREGATE_COLUMNS, aggregate_rows(results))


@blueprint.get(f"{RUN}/matrix.json")
def matrix_json(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    return jsonify(matrix_record(results_of(stored_run(run_id)).matrix, address))


@blueprint.get(f"{RUN}/matrix.csv")
def matrix_csv(run_id: str) -> Response:
    address, _ = read_matrix(run_id, request.args)
    matrix = results_of(stored_run(run_id)).matrix
    if read_layout(request.args) == "grid":
        return csv_response(
            _file_name(address), grid_columns(matrix, address), grid_rows(matrix, address)
        )
    return csv_response(_file_name(address), long_columns(address), long_rows(matrix, address))


def _file_name(address: MatrixAddress) -> str:
    return f"{address.run_id}-matrix{'-transposed' if address.transposed else ''}"
