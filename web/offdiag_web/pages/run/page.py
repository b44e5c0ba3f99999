"""The metadata of a run, and pinning it as the baseline of its dataset."""

from __future__ import annotations

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.records.run import run_document
from offdiag.services.datasets import pin_baseline, unpin_run
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import json_response
from offdiag_web.app.paths import own_path
from offdiag_web.app.preferences import user_name_if_given
from offdiag_web.components.run_frame import RUN, run_page, stored_run
from offdiag_web.pages.run.view import provenance

blueprint = Blueprint("run_meta", __name__)


@blueprint.get(f"{RUN}/meta")
def page(run_id: str) -> Response:
    detail = stored_run(run_id)
    view = provenance(
        detail,
        now=current_registry().database.clock(),
        run_url=lambda run_id: url_for("run_matrix.page", run_id=run_id),
    )
    return run_page("run/page.html", detail, "meta", view=view)


@blueprint.get(f"{RUN}/meta.json")
def meta_json(run_id: str) -> Response:
    return json_response(run_document(stored_run(run_id)))


@blueprint.post(f"{RUN}/baseline/pin")
def pin(run_id: str) -> Response:
    pin_baseline(current_registry().database, run_id, author=user_name_if_given())
    return _back_to(run_id)


@blueprint.post(f"{RUN}/baseline/unpin")
def unpin(run_id: str) -> Response:
    unpin_run(current_registry().database, run_id)
    return _back_to(run_id)


def _back_to(run_id: str) -> Response:
    page = url_for("run_matrix.page", run_id=run_id)
    return redirect(own_path(request.form.get("back", page)), 303)
