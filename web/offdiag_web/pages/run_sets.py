"""The first page of a multi-label run and its twins, at the addresses of a matrix of classes."""

from __future__ import annotations

from flask import Response as File
from flask import jsonify, request
from werkzeug.wrappers import Response

from offdiag.errors import InvalidInput
from offdiag.metrics.counted import CountedSets, sets_of
from offdiag.store.run_page import RunDetail
from offdiag_web.addresses.label_sets import read_label_sets
from offdiag_web.app.exports import csv_response
from offdiag_web.pages.run_frame import results_of, run_page
from offdiag_web.presenters.run_export import metadata_record
from offdiag_web.presenters.sets.export import (
    LONG_COLUMNS,
    grid_columns,
    grid_rows,
    long_rows,
    sets_markdown,
    sets_record,
    sets_run_record,
)
from offdiag_web.presenters.sets.page import sets_page
from offdiag_web.urls.matrix import read_layout

MOST_WRITTEN_OUT = 200
"""Labels whose matrix is written out cell by cell in a document."""


def first_page(detail: RunDetail) -> Response:
    """The page of a run."""
    address, notices = read_label_sets(detail.run.id, request.args)
    view = None
    if detail.results is not None:
        view = sets_page(detail.results, sets_of(detail.results.counted), address)
    return run_page("run_sets.html", detail, "matrix", address=address, view=view, notices=notices)


def run_json(detail: RunDetail) -> Response:
    """A run with its metadata, aggregates and what was counted."""
    if detail.results is None:
        return jsonify({**metadata_record(detail), "aggregate": None, "sets": None})
    return jsonify(sets_run_record(detail, detail.results, sets_of(detail.results.counted)))


def matrix_json(counted: CountedSets) -> Response:
    """The matrix alone."""
    return jsonify(sets_record(counted))


def matrix_csv(run_id: str, counted: CountedSets) -> Response:
    """The matrix, a line for each pair of labels or for each actual label."""
    if read_layout(request.args) == "grid":
        return csv_response(f"{run_id}-matrix", grid_columns(counted), grid_rows(counted))
    return csv_response(f"{run_id}-matrix", LONG_COLUMNS, long_rows(counted))


def matrix_markdown(detail: RunDetail) -> File:
    """The matrix as a table to paste. Raises `InvalidInput` for very many labels."""
    results = results_of(detail)
    counted = sets_of(results.counted)
    address, _ = read_label_sets(detail.run.id, request.args)
    if counted.n_classes > MOST_WRITTEN_OUT:
        raise InvalidInput(
            f"{counted.n_classes:,} labels are too many to be written out cell by cell.",
            field="run",
            hint=f"Up to {MOST_WRITTEN_OUT} are; CSV and JSON take any number.",
        )
    answer = File(sets_markdown(results, counted, address), mimetype="text/markdown")
    name = f"{detail.run.id}-matrix.md"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
