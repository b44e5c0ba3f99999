"""Search over names of runs, datasets, models and metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flask import Blueprint, jsonify, make_response, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.metrics.catalogue import SPECS
from offdiag.store.search import OF_EACH_KIND, Findings, find
from offdiag_web.app.context import current_registry
from offdiag_web.urls.datasets import DatasetAddress, ModelAddress
from offdiag_web.urls.metrics import MetricAddress

_NUMBERED = re.compile(r"(f-?|job ?)([0-9]{1,18})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Goal:
    """Somewhere to go."""

    name: str
    detail: str
    url: str


@dataclass(frozen=True, slots=True)
class GoalGroup:
    """Goals of one kind."""

    title: str
    goals: tuple[Goal, ...]


def goal_groups(
    text: str, found: Findings, pages: Sequence[Goal], *, run_url: str
) -> tuple[GoalGroup, ...]:
    """All kinds that have anything; `run_url` ends where the id of a run begins.

    Flags and jobs are gone to by number: `F-31`, `job 481`.
    """
    wanted = text.lower()
    groups = (
        GoalGroup("Numbers", tuple(_numbered(text))),
        GoalGroup("Pages", tuple(page for page in pages if wanted in page.name.lower())),
        GoalGroup(
            "Runs",
            tuple(
                Goal(run.name, f"{run.detail} · {run.id}", f"{run_url}{run.id}")
                for run in found.runs
            ),
        ),
        GoalGroup(
            "Datasets",
            tuple(
                Goal(each.name, each.detail, DatasetAddress(each.id, each.name).url())
                for each in found.datasets
            ),
        ),
        GoalGroup(
            "Models",
            tuple(
                Goal(each.name, each.detail, ModelAddress(each.name).url())
                for each in found.models
            ),
        ),
        GoalGroup("Metrics", tuple(_metrics(wanted))),
    )
    return tuple(group for group in groups if group.goals)


def goal_records(groups: Sequence[GoalGroup]) -> list[dict[str, str]]:
    """All goals for machines."""
    return [
        {"kind": group.title.lower(), "name": goal.name, "detail": goal.detail, "url": goal.url}
        for group in groups
        for goal in group.goals
    ]


def _numbered(text: str) -> Iterator[Goal]:
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return
    kind, number = match.groups()
    if kind.lower().startswith("f"):
        yield Goal(f"Flag F-{int(number)}", "by its number", f"/flags/{int(number)}")
    else:
        yield Goal(f"Job {int(number)}", "by its number", f"/jobs/{int(number)}")


def _metrics(wanted: str) -> Iterator[Goal]:
    if not wanted:
        return
    found = {
        spec.key: Goal(spec.title, spec.key, MetricAddress(spec.key).url())
        for spec in SPECS
        if wanted in spec.key or wanted in spec.title.lower()
    }
    yield from list(found.values())[:OF_EACH_KIND]


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
    return make_response(render_template("search/page.html", text=text, groups=_groups(text)))


@blueprint.get("/search.json")
def twin() -> Response:
    return jsonify({"found": goal_records(_groups(_text()))})


def _text() -> str:
    return request.args.get("q", "").replace("\0", "").strip()[:_LONGEST]


def _groups(text: str) -> tuple[GoalGroup, ...]:
    with current_registry().database.read() as session:
        found = find(session, text)
    pages = [Goal(name, "page", url_for(endpoint)) for name, endpoint in _PAGES]
    return goal_groups(text, found, pages, run_url=url_for("runs.runs") + "/")
