"""Search by words for runs, datasets, models, costs, reports, classes, metrics and pages."""

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
class SearchResult:
    """Something that was found, with a detail and the address of its page."""

    name: str
    detail: str
    url: str


def result_groups(
    text: str, found: Findings, pages: Sequence[SearchResult]
) -> tuple[tuple[str, tuple[SearchResult, ...]], ...]:
    """Results by kind, without the kinds that have none.

    Flags and jobs are found by number: `F-31`, `job 481`.
    """
    terms = text.lower().split()
    groups = (
        ("Numbers", tuple(_numbered(text))),
        ("Pages", tuple(page for page in pages if _matches(terms, page.name))),
        (
            "Runs",
            tuple(
                SearchResult(run.name, f"{run.detail} · {run.id}", run_url(run.id))
                for run in found.runs
            ),
        ),
        _named("Datasets", found.datasets, lambda each: DatasetAddress(each.id, each.name).url()),
        _named("Models", found.models, lambda each: ModelAddress(each.name).url()),
        _named("Costs", found.costs, lambda each: CostsAddress(each.id, each.name).url()),
        _named("Reports", found.schedules, lambda each: ReportAddress(each.id, each.name).url()),
        (
            "Classes",
            tuple(
                SearchResult(each.name, each.detail, DatasetAddress(project, each.id).url())
                for project, each in found.classes
            ),
        ),
        ("Metrics", tuple(_metrics(terms))),
    )
    return tuple((title, results) for title, results in groups if results)


def _named(
    title: str, found: Sequence[FoundName], url: Callable[[FoundName], str]
) -> tuple[str, tuple[SearchResult, ...]]:
    return (title, tuple(SearchResult(each.name, each.detail, url(each)) for each in found))


def result_records(groups: Sequence[tuple[str, tuple[SearchResult, ...]]]) -> list[dict[str, str]]:
    """All results, ready for JSON."""
    return [
        {"kind": title.lower(), "name": result.name, "detail": result.detail, "url": result.url}
        for title, results in groups
        for result in results
    ]


def _numbered(text: str) -> Iterator[SearchResult]:
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return
    kind, number = match.groups()
    if kind.lower().startswith("f"):
        yield SearchResult(f"Flag F-{int(number)}", "by its number", f"/flags/{int(number)}")
    else:
        yield SearchResult(f"Job {int(number)}", "by its number", f"/jobs/{int(number)}")


def _matches(terms: Sequence[str], text: str) -> bool:
    return all(term in text.lower() for term in terms)


def _metrics(terms: Sequence[str]) -> Iterator[SearchResult]:
    if not terms:
        return
    found = {
        spec.key: SearchResult(spec.title, spec.key, MetricAddress(spec.key).url())
        for spec in SPECS
        if _matches(terms, f"{spec.key} {spec.title}")
    }
    yield from list(found.values())[:OF_EACH_KIND]


blueprint = Blueprint("search", __name__)

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
    return jsonify({"found": result_records(_groups(_text()))})


def _text() -> str:
    return request.args.get("q", "").replace("\0", "").strip()[:_LONGEST]


def _groups(text: str) -> tuple[tuple[str, tuple[SearchResult, ...]], ...]:
    with current_registry().database.read() as session:
        found = find(session, text)
    pages = [SearchResult(name, kind, url_for(endpoint)) for name, kind, endpoint in _PAGES]
    pages = [page for page in pages if page.detail != _FORM or may_send(page.url)]
    return result_groups(text, found, pages)
