"""Every component in every state, for looking at and for tests; absent in production."""

from __future__ import annotations

from flask import Blueprint, abort, current_app, make_response, render_template
from werkzeug.wrappers import Response

from offdiag_web.gallery.view import gallery_view

blueprint = Blueprint("gallery", __name__)


@blueprint.get("/_gallery")
def page() -> Response:
    if not (current_app.debug or current_app.testing):
        abort(404)
    return make_response(
        render_template("gallery.html", view=gallery_view(), database_url="sqlite:///offdiag.db")
    )
