"""Every per-class value of a run."""

from __future__ import annotations

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from offdiag.store.run_page import RunResults
from offdiag_web.app.exports import csv_response
from offdiag_web.components.controls import class_words
from offdiag_web.components.run_frame import RUN, results_of, run_page, stored_run
from offdiag_web.components.values import Notes
from offdiag_web.pages.run_classes.address import ClassesAddress, read_classes
from offdiag_web.pages.run_classes.view import (
    class_columns,
    class_records,
    class_rows,
    class_table,
)

blueprint = Blueprint("run_classes", __name__)


@blueprint.get(f"{RUN}/classes")
def page(run_id: str) -> Response:
    detail = stored_run(run_id)
    address, notices = _address(run_id, detail.results)
    notes = Notes()
    words = class_words(detail.run.task)
    table = None
    if detail.results is not None:
        table = class_table(detail.results, address, notes, words)
    return run_page(
        "run_classes/page.html",
        detail,
        "classes",
        address=address,
        table=table,
        words=words,
        notes=notes.texts,
        notices=notices,
    )


@blueprint.get(f"{RUN}/classes.json")
def classes_json(run_id: str) -> Response:
    return jsonify(class_records(results_of(stored_run(run_id))))


@blueprint.get(f"{RUN}/classes.csv")
def classes_csv(run_id: str) -> Response:
    results = results_of(stored_run(run_id))
    address, _ = _address(run_id, results)
    return csv_response(f"{run_id}-classes", class_columns(results), class_rows(results, address))


def _address(run_id: str, results: RunResults | None) -> tuple[ClassesAddress, list[str]]:
    return read_classes(run_id, request.args, results.per_class if results else ())
