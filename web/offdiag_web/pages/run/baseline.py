"""Pinning a run as the baseline of its dataset, and letting go of it."""

from __future__ import annotations

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.services.datasets import pin_baseline, unpin_run
from offdiag_web.app.context import current_registry
from offdiag_web.app.paths import own_path
from offdiag_web.app.preferences import reader_if_known
from offdiag_web.components.run_frame import RUN

blueprint = Blueprint("run_baseline", __name__)


@blueprint.post(f"{RUN}/baseline/pin")
def pin(run_id: str) -> Response:
    pin_baseline(current_registry().database, run_id, author=reader_if_known())
    return _back_to(run_id)


@blueprint.post(f"{RUN}/baseline/unpin")
def unpin(run_id: str) -> Response:
    unpin_run(current_registry().database, run_id)
    return _back_to(run_id)


def _back_to(run_id: str) -> Response:
    page = url_for("run_matrix.page", run_id=run_id)
    return redirect(own_path(request.form.get("back", page)), 303)
