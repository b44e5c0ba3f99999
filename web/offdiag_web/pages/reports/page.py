"""The reports, the page of each, and what can be done with one."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.records.report import (
    EDITION_COLUMNS,
    REPORT_COLUMNS,
    report_detail,
    report_list,
    report_row,
)
from offdiag.services.reports.page import reports_page
from offdiag.services.schedules.edit import (
    pause_schedule,
    remove_schedule,
    resume_schedule,
    run_report,
)
from offdiag.services.schedules.page import report_page, schedules_page
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.paths import TWIN, requested_project
from offdiag_web.pages.reports.report_list import reports_view
from offdiag_web.pages.reports.view import report_view
from offdiag_web.urls.datasets import read_start
from offdiag_web.urls.reports import ReportAddress

REPORT = "/reports/<name:name>"
"""Address of a report; each page adds its own name to it."""

blueprint = Blueprint("reports", __name__)


@blueprint.get("/reports")
def page() -> Response:
    database = current_registry().database
    start, notices = read_start(request.args)
    view = reports_view(schedules_page(database), start=start, now=database.clock())
    return make_response(render_template("reports/page.html", view=view, notices=notices))


@blueprint.get(f"/reports{TWIN}")
def twin(form: str) -> Response:
    found = report_list(reports_page(current_registry().database))
    if form == "json":
        return json_response(found)
    return csv_response("reports", REPORT_COLUMNS, map(report_row, found.reports))


@blueprint.get(REPORT)
def report(name: str) -> Response:
    database = current_registry().database
    start, notices = read_start(request.args)
    found = report_page(database, project=requested_project(), name=name, start=start)
    view = report_view(found, start=start, now=database.clock())
    return make_response(
        render_template(
            "reports/report.html",
            view=view,
            own_url=view.address.url(start=start),
            notices=notices,
        )
    )


@blueprint.get(f"{REPORT}{TWIN}")
def report_twin(name: str, form: str) -> Response:
    found = report_detail(
        report_page(current_registry().database, project=requested_project(), name=name)
    )
    if form == "json":
        return json_response(found)
    rows = (issue.row(EDITION_COLUMNS) for issue in found.issues)
    return csv_response("report-issues", EDITION_COLUMNS, rows)


@blueprint.post(f"{REPORT}/run")
def run(name: str) -> Response:
    project = requested_project()
    asked = run_report(current_registry().database, project=project, name=name)
    return redirect(ReportAddress(project, name).edition_url(asked.number), 303)


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
    """Remove the schedule; where it never issued anything, nothing of it is left to show."""
    database, project = current_registry().database, requested_project()
    n_issues = report_page(database, project=project, name=name, limit=1).entry.n_issues
    remove_schedule(database, project=project, name=name)
    return _back_to(name) if n_issues else redirect("/reports", 303)


def _back_to(name: str) -> Response:
    return redirect(ReportAddress(requested_project(), name).url(), 303)
