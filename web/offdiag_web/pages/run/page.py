"""The metadata of a run."""

from __future__ import annotations

from flask import Blueprint, jsonify, url_for
from werkzeug.wrappers import Response

from offdiag_web.app.context import current_registry
from offdiag_web.components.run_export import metadata_record
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
    return jsonify(metadata_record(stored_run(run_id)))
