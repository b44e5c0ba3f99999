"""All evaluations of a run, and what differed between them."""

from __future__ import annotations

from flask import Blueprint, jsonify
from werkzeug.wrappers import Response

from offdiag.services.browse_history import RunHistory, browse_history
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.pages.run_frame import RUN, run_page
from offdiag_web.presenters.run_history import (
    HISTORY_COLUMNS,
    history_record,
    history_rows,
    history_view,
)

blueprint = Blueprint("run_history", __name__)


@blueprint.get(f"{RUN}/history")
def page(run_id: str) -> Response:
    history = _history(run_id)
    view = history_view(history, now=current_registry().database.clock())
    return run_page("run_history.html", history.detail, "history", view=view)


@blueprint.get(f"{RUN}/history.json")
def history_json(run_id: str) -> Response:
    return jsonify(history_record(_history(run_id)))


@blueprint.get(f"{RUN}/history.csv")
def history_csv(run_id: str) -> Response:
    return csv_response(f"{run_id}-history", HISTORY_COLUMNS, history_rows(_history(run_id)))


def _history(run_id: str) -> RunHistory:
    return browse_history(current_registry().database, run_id)
