"""Every component in every state, for looking at and for tests."""

from __future__ import annotations

from flask import Blueprint, make_response, render_template
from werkzeug.wrappers import Response

from support.gallery.addresses import PAGES
from support.gallery.charts import charts_view
from support.gallery.components import components_view
from support.gallery.matrices import matrices_view

blueprint = Blueprint("gallery", __name__, template_folder="templates")


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
