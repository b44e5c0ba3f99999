"""The front page, or straight to the runs where there is only one dataset."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, render_template, url_for
from werkzeug.wrappers import Response

from offdiag.services.browse_home import browse_home
from offdiag_web.app.context import current_registry
from offdiag_web.presenters.home import home_view

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def home() -> Response:
    database = current_registry().database
    overview = browse_home(database)
    if len(overview.datasets) < 2:
        return redirect(url_for("runs.runs"))
    view = home_view(overview, now=database.clock())
    return make_response(render_template("home.html", view=view))
