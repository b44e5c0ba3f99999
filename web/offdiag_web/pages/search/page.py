"""Search by words over everything that has a name, and over pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flask import Blueprint, jsonify, make_response, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.metrics.catalogue import SPECS
from offdiag.store.name_search import OF_EACH_KIND, Findings, FoundName, find
from offdiag_web.app.auth import may_send
from offdiag_web.app.context import current_registry
from offdiag_web.urls.costs import CostsAddress
from offdiag_web.urls.datasets import DatasetAddress, ModelAddress
from offdiag_web.urls.metrics import MetricAddress
from offdiag_web.urls.reports import ReportAddress
from offdiag_web.urls.run import run_url

_NUMBERED = re.compile(r"(f-?|job ?)([0-9]{1,18})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Goal:
    """A search result with its address."""

    name: str
    detail: str
    url: str


def goal_groups(
    text: str, found: Findings, pages: Sequence[Goal]
) -> tuple[tuple[str, tuple[Goal, ...]], ...]:
    """All kinds that have results.

    Flags and jobs are found by number: `F-31`, `job 481`.
    """
    terms = text.lower().split()
    groups = (
        ("Numbers", tuple(_numbered(text))),
        ("Pages", tuple(page for page in pages if _matches(terms, page.name))),
        (
            "Runs",
            tuple(
                Goal(run.name, f"{run.detail} · {run.id}", run_url(run.id)) for run in found.runs
            ),
        ),
        _named("Datasets", found.datasets, lambda each: DatasetAddress(each.id, each.name).url()),
        _named("Models", found.models, lambda each: ModelAddress(each.name).url()),
        _named("Costs", found.costs, lambda each: CostsAddress(each.id, each.name).url()),
        _named("Reports", found.schedules, lambda each: ReportAddress(each.id, each.name).url()),
        (
            "Classes",
            tuple(
                Goal(each.name, each.detail, DatasetAddress(project, each.id).url())
                for project, each in found.classes
            ),
        ),
        ("Metrics", tuple(_metrics(terms))),
    )
    return tuple((title, goals) for title, goals in groups if goals)


def _named(
    title: str, found: Sequence[FoundName], url: Callable[[FoundName], str]
) -> tuple[str, tuple[Goal, ...]]:
    return (title, tuple(Goal(each.name, each.detail, url(each)) for each in found))


def goal_records(groups: Sequence[tuple[str, tuple[Goal, ...]]]) -> list[dict[str, str]]:
    """All results for programs."""
    return [
        {"kind": title.lower(), "name": goal.name, "detail": goal.detail, "url": goal.url}
        for title, goals in groups
        for goal in goals
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


def _matches(terms: Sequence[str], text: str) -> bool:
    return all(term in text.lower() for term in terms)


def _metrics(terms: Sequence[str]) -> Iterator[Goal]:
    if not terms:
        return
    found = {
        spec.key: Goal(spec.title, spec.key, MetricAddress(spec.key).url())
        for spec in SPECS
        if _matches(terms, f"{spec.key} {spec.title}")
    }
    yield from list(found.values())[:OF_EACH_KIND]


blueprint = Blueprint("finding", __name__)

_LONGEST = 200
_FORM = "form"
_PAGES = (
    ("Runs", "page", "runs.runs"),
    ("Datasets", "page", "datasets.page"),
    ("Compare", "page", "compare.page"),
    ("Problems", "page", "flags.page"),
    ("Costs", "page", "costs.page"),
    ("Reports", "page", "reports.page"),
    ("Metrics", "page", "glossary.page"),
    ("Audit published numbers", "page", "audit.page"),
    ("Jobs", "page", "jobs.page"),
    ("Settings", "page", "settings.page"),
    ("Compare runs", "choose two", "compare.page"),
    ("Approve a champion, propose a candidate", "choose the dataset", "datasets.page"),
    ("Log a run", "offdiag.log_run(y_true=…, y_pred=…, dataset=…)", "runs.runs"),
    ("Cost what-if", "try other costs", "what_if.page"),
    ("New cost matrix", _FORM, "cost_form.new"),
    ("New report", _FORM, "report_form.new"),
)


@blueprint.get("/search")
def page() -> Response:
    text = _text()
    return make_response(render_template("search/page.html", text=text, groups=_groups(text)))


@blueprint.get("/search.json")
def export() -> Response:
    return jsonify({"found": goal_records(_groups(_text()))})


def _text() -> str:
    return request.args.get("q", "").replace("\0", "").strip()[:_LONGEST]


def _groups(text: str) -> tuple[tuple[str, tuple[Goal, ...]], ...]:
    with current_registry().database.read() as session:
        found = find(session, text)
    pages = [Goal(name, kind, url_for(endpoint)) for name, kind, endpoint in _PAGES]
    pages = [page for page in pages if page.detail != _FORM or may_send(page.url)]
    return goal_groups(text, found, pages)
