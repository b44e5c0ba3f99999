"""Every component in every state, for looking at and for tests; absent in production."""

from __future__ import annotations

from flask import Blueprint, abort, current_app, make_response, render_template
from werkzeug.wrappers import Response

from offdiag_web.gallery.charts import charts_view
from offdiag_web.gallery.components import components_view
from offdiag_web.gallery.matrices import matrices_view
from offdiag_web.gallery.pages import PAGES

blueprint = Blueprint("gallery", __name__)


@blueprint.before_request
def _only_while_developing() -> None:
    if not (current_app.debug or current_app.testing):
        abort(404)


@blueprint.get(PAGES["components"])
def page() -> Response:
    view = components_view()
    return make_response(
        render_template("gallery.html", view=view, database_url="sqlite:///offdiag.db")
    )


@blueprint.get(PAGES["matrices"])
def matrices() -> Response:
    return make_response(render_template("gallery_matrices.html", view=matrices_view()))


@blueprint.get(PAGES["charts"])
def charts() -> Response:
    return make_response(render_template("gallery_charts.html", view=charts_view()))
