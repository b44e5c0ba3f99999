"""Curves of the scores of a run."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, jsonify, redirect, request
from werkzeug.wrappers import Response

from offdiag.errors import Conflict, InvalidInput
from offdiag.services.curves import RunCurves, all_curves, browse_curves
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import SENT_BY_FORM
from offdiag_web.components.run_frame import RUN, results_of, run_page
from offdiag_web.pages.run_curves.address import CurvesAddress, read_curves, read_part
from offdiag_web.pages.run_curves.export import curve_table, curves_record
from offdiag_web.pages.run_curves.view import curves_view

blueprint = Blueprint("run_curves", __name__)


@blueprint.get(f"{RUN}/curves")
def page(run_id: str) -> Response:
    address, notices = read_curves(run_id, request.args)
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    try:
        found = _browse(address)
    except InvalidInput as error:
        if error.field != "positive":
            raise
        notices.append(f"There is no class “{address.positive}” here.")
        address = replace(address, positive=None, prevalence=None)
        found = _browse(address)
    if address.prevalence is not None and found.positive is None:
        notices.append("A prevalence is that of one class: choose one.")
        address = address.at_prevalence(None)
    view = curves_view(found, address)
    return run_page(
        "run_curves/page.html", found.detail, "curves", address=address, view=view, notices=notices
    )


@blueprint.get(f"{RUN}/curves.json")
def curves_json(run_id: str) -> Response:
    found, address = _exported(run_id)
    return jsonify(curves_record(found, address))


@blueprint.get(f"{RUN}/curves.csv")
def curves_csv(run_id: str) -> Response:
    found, address = _exported(run_id)
    part = read_part(request.args)
    columns, rows = curve_table(found, address, part)
    name = f"{run_id}-curves" if part == "points" else f"{run_id}-curves-{part}"
    return csv_response(name, columns, rows)


def _browse(address: CurvesAddress) -> RunCurves:
    return browse_curves(
        current_registry().database,
        address.run_id,
        positive=address.positive,
        ranked_by=address.ranked_by,
        start=address.start,
    )


def _exported(run_id: str) -> tuple[RunCurves, CurvesAddress]:
    """The curves of one class where one is named, else all of them."""
    address, _ = read_curves(run_id, request.args)
    if address.positive is None:
        found = all_curves(current_registry().database, run_id)
    else:
        found = _browse(address)
    if found.missing is not None:
        results_of(found.detail)
        raise Conflict(
            f"run {run_id} has no curves ({found.missing.value.replace('_', ' ')}).",
            field="run",
            hint="Its page of curves says why.",
        )
    return found, address
