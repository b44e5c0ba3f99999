"""The runs list and its twins."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, jsonify, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.records.run import run_columns
from offdiag.settings.load import hide_password
from offdiag.store.database import Database
from offdiag.store.run_list import listed_metrics, run_overview
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import SENT_BY_FORM
from offdiag_web.components.run_export import run_list_record, run_list_rows
from offdiag_web.pages.runs.view import run_list_view
from offdiag_web.urls.run_list import read_run_list

blueprint = Blueprint("runs", __name__)


@blueprint.get("/runs")
@blueprint.get("/runs.<any(json, csv):form>")
def runs(form: str = "html") -> Response:
    database = current_registry().database
    address, notices = read_run_list(request.args, now=database.clock())
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    with database.read() as session:
        overview = run_overview(
            session,
            terms=address.filter,
            order=address.order,
            cursor=address.cursor,
            metrics=address.columns,
            baseline=address.baseline,
        )
    if form == "json":
        return jsonify(run_list_record(overview, address))
    if form == "csv":
        columns = run_columns(listed_metrics(overview.scope))
        return csv_response("runs", columns, run_list_rows(overview))
    view = run_list_view(
        overview,
        address,
        notices=notices,
        now=database.clock(),
        run_url=lambda run_id: url_for("run_matrix.page", run_id=run_id),
    )
    return make_response(
        render_template("runs/page.html", view=view, database_url=_shown_url(database))
    )


@blueprint.get("/runs/as-baseline")
def as_baseline() -> Response:
    """The same list, with the first ticked run as the baseline of all marks."""
    address, _ = read_run_list(request.args, now=current_registry().database.clock())
    chosen, _ = read_run_list({"base": request.args.get("runs", "")})
    return redirect(replace(address, baseline=chosen.baseline).url())


def _shown_url(database: Database) -> str:
    """The URL to log to, for the example of an empty registry; without any password."""
    if database.path is not None:
        return f"sqlite:///{database.path.absolute()}"
    return hide_password(database.url)
