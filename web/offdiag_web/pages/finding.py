"""Go to: the page behind the palette, which also works alone."""

from __future__ import annotations

from flask import Blueprint, jsonify, make_response, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.services.finding import find
from offdiag_web.app.context import current_registry
from offdiag_web.presenters.finding import Goal, GoalGroup, goal_groups, goal_records

blueprint = Blueprint("finding", __name__)

_LONGEST = 200
_PAGES = (
    ("Runs", "runs.runs"),
    ("Datasets", "datasets.page"),
    ("Metrics", "glossary.page"),
    ("Audit published numbers", "audit.page"),
    ("Jobs", "jobs.page"),
    ("Settings", "settings.page"),
)


@blueprint.get("/search")
def page() -> Response:
    text = _text()
    return make_response(render_template("search.html", text=text, groups=_groups(text)))


@blueprint.get("/search.json")
def twin() -> Response:
    return jsonify({"found": goal_records(_groups(_text()))})


def _text() -> str:
    return request.args.get("q", "").replace("\0", "").strip()[:_LONGEST]


def _groups(text: str) -> tuple[GoalGroup, ...]:
    found = find(current_registry().database, text)
    pages = [Goal(name, "page", url_for(endpoint)) for name, endpoint in _PAGES]
    return goal_groups(text, found, pages, run_url=url_for("runs.runs") + "/")
