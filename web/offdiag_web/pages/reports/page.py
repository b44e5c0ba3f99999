"""The list of reports, the page of each, and actions on a report."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.metrics import metric_text
from offdiag.records.report import (
    EDITION_COLUMNS,
    REPORT_COLUMNS,
    ReportDetail,
    SentEdition,
    report_detail,
    report_list,
    report_row,
)
from offdiag.reports.scope import ReportScope, condition_text, terms_text
from offdiag.services.reports.page import reports_page
from offdiag.services.schedules.edit import (
    pause_schedule,
    remove_schedule,
    resume_schedule,
    run_report,
)
from offdiag.services.schedules.page import (
    EDITIONS_PER_PAGE,
    ReportPage,
    report_page,
    schedules_page,
)
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT, requested_project
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.forms import new_form, once
from offdiag_web.components.controls import Chip, paging
from offdiag_web.pages.reports.report_list import next_time, reports_view
from offdiag_web.pages.reports.texts import (
    due_texts,
    edition_line,
    history_line,
)
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import read_start
from offdiag_web.urls.reports import ReportAddress


def _facts(
    scope: ReportScope, baseline: str | None, targets: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    facts = {
        "Runs": terms_text(scope.terms),
        "Metrics": ", ".join(metric_text.title(key) for key in scope.metrics),
        "Costs by": scope.cost_matrix,
        "Baseline": baseline or scope.baseline,
        "Slices": ", ".join(scope.slices),
        "Alerts": "; ".join(map(condition_text, scope.alerts)) or "none",
        "Sent to": ", ".join(targets) or "no one; editions are stored here",
    }
    return tuple((name, text) for name, text in facts.items() if text)


def _plan(page: ReportPage, now: datetime) -> dict[str, object] | None:
    planned = page.planned
    if planned is None:
        return None
    return {
        "planned": planned,
        "paused": None if planned.schedule.enabled else Chip("paused", "warning"),
        "next": next_time(planned, now),
        "ahead": due_texts(planned.next_due_times),
    }


def _warning(page: ReportPage) -> str | None:
    planned = page.planned
    if page.has_scheduler or planned is None or not planned.schedule.enabled:
        return None
    return "No scheduler is running, so this report does not run on schedule."


REPORT = "/reports/<name:name>"
"""Address of a report; each page appends its own name."""

EDITIONS_READ_AT_ONCE = 1_000

blueprint = Blueprint("reports", __name__)


@blueprint.get("/reports")
def page() -> Response:
    database = current_registry().database
    start, notices = read_start(request.args)
    found = schedules_page(database)
    return make_response(reports_view(found, notices, start=start, now=database.clock()))


@blueprint.get(f"/reports{DATA_FORMAT}")
def export(form: str) -> Response:
    found = report_list(reports_page(current_registry().database))
    if form == "json":
        return json_response(found)
    return csv_response("reports", REPORT_COLUMNS, map(report_row, found.reports))


@blueprint.get(REPORT)
def report(name: str) -> Response:
    database = current_registry().database
    start, notices = read_start(request.args)
    found = report_page(database, project=requested_project(), name=name, start=start)
    entry = found.entry
    address = ReportAddress(entry.project, entry.name)
    html = render_template(
        "reports/report.html",
        name=entry.name,
        address=address,
        dataset=entry.scope.dataset,
        dataset_url=DatasetAddress(entry.project, entry.scope.dataset).url(),
        facts=_facts(entry.scope, found.baseline, entry.targets),
        plan=_plan(found, database.clock()),
        warning=_warning(found),
        line=history_line(found.history, entry.scope),
        editions=tuple(
            edition_line(each.edition, each.deliveries, address) for each in found.editions
        ),
        paging=paging(
            entry.n_editions,
            start,
            per_page=EDITIONS_PER_PAGE,
            words=("edition", "editions"),
            url=lambda first: address.url(start=first),
        ),
        is_pending=any(each.edition.state.value == "pending" for each in found.editions),
        own_url=address.url(start=start),
        new_form=new_form(),
        notices=notices,
    )
    return make_response(html)


@blueprint.get(f"{REPORT}{DATA_FORMAT}")
def report_export(name: str, form: str) -> Response:
    """Export a report: as JSON with its newest editions, or all editions as CSV."""
    if form == "json":
        return json_response(_detail(name, 0, EDITIONS_PER_PAGE))
    rows = (edition.row(EDITION_COLUMNS) for edition in _all_editions(name))
    return csv_response("report-editions", EDITION_COLUMNS, rows)


def _all_editions(name: str) -> Iterator[SentEdition]:
    start = 0
    while found := _detail(name, start, EDITIONS_READ_AT_ONCE).editions:
        yield from found
        start += len(found)


def _detail(name: str, start: int, limit: int) -> ReportDetail:
    database = current_registry().database
    return report_detail(
        report_page(database, project=requested_project(), name=name, start=start, limit=limit)
    )


@blueprint.post(f"{REPORT}/run")
def run(name: str) -> Response:
    project = requested_project()

    def edition_url() -> str:
        asked = run_report(current_registry().database, project=project, name=name)
        return ReportAddress(project, name).edition_url(asked.number)

    return redirect(once(edition_url), 303)


@blueprint.post(f"{REPORT}/pause")
def pause(name: str) -> Response:
    pause_schedule(current_registry().database, project=requested_project(), name=name)
    return _back_to(name)


@blueprint.post(f"{REPORT}/resume")
def resume(name: str) -> Response:
    resume_schedule(current_registry().database, project=requested_project(), name=name)
    return _back_to(name)


@blueprint.post(f"{REPORT}/delete")
def delete(name: str) -> Response:
    """Remove the schedule. A report without editions is then gone, so the list is shown."""
    database, project = current_registry().database, requested_project()
    n_editions = report_page(database, project=project, name=name, limit=1).entry.n_editions
    remove_schedule(database, project=project, name=name)
    return _back_to(name) if n_editions else redirect("/reports", 303)


def _back_to(name: str) -> Response:
    return redirect(ReportAddress(requested_project(), name).url(), 303)
