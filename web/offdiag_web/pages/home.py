"""The front page: the datasets, or straight to the runs where there is only one."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, render_template, url_for
from werkzeug.wrappers import Response

from offdiag.services.browse import browse_datasets
from offdiag_web.presenters.datasets import dataset_cards
from offdiag_web.registry import current_registry

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def home() -> Response:
    database = current_registry().database
    datasets = browse_datasets(database)
    if len(datasets) < 2:
        return redirect(url_for("runs.runs"))
    cards = dataset_cards(datasets, now=database.clock())
    return make_response(render_template("datasets.html", datasets=cards))
