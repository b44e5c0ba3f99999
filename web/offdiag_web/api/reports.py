"""Reports: issued, listed, read file by file, tried again."""

from __future__ import annotations

from flask import Response, make_response

from offdiag.records.base import InProject
from offdiag.records.report import (
    AskedIssue,
    EditionsQuery,
    IssueDetail,
    IssueWithFigures,
    NewReport,
    ReportDetail,
    ReportList,
    SchedulesQuery,
    issue_detail,
    issue_with_figures,
    report_detail,
    report_list,
)
from offdiag.services.reports import edition
from offdiag.services.reports.edition import report_now
from offdiag.services.reports.page import edition_file, issue_page, reports_page
from offdiag.services.schedules.edit import run_report
from offdiag.services.schedules.page import report_page
from offdiag_web.api.operations import operation, resource
from offdiag_web.api.report_bodies import scope_of, targets_of
from offdiag_web.app.context import current_registry

blueprint = resource("reports")

_ONE = "/reports/<name:name>"
_ISSUE = f"{_ONE}/issues/<number:number>"
_FILES = ("text/html", "application/json", "text/csv", "text/plain")


@operation(blueprint, "GET", "/reports", answers=ReportList)
def list_reports(query: SchedulesQuery) -> ReportList:
    """Read all reports with their newest issues."""
    return report_list(reports_page(current_registry().database, project=query.project))


@operation(blueprint, "POST", "/reports", answers={202: AskedIssue}, is_repeatable=True)
def issue_report(json: NewReport) -> tuple[AskedIssue, int]:
    """Issue a report once, now; a worker computes it."""
    asked = report_now(
        current_registry().database,
        name=json.name,
        scope=scope_of(json.scope, json.project),
        delivery=targets_of(json.delivery),
        zone=json.zone,
    )
    return AskedIssue(name=asked.name, number=asked.number), 202


@operation(blueprint, "GET", _ONE, answers=ReportDetail)
def get_report(name: str, query: EditionsQuery) -> ReportDetail:
    """Read a report with some of its issues, newest first."""
    page = report_page(
        current_registry().database,
        project=query.project,
        name=name,
        start=query.start,
        limit=query.limit,
    )
    return report_detail(page, start=query.start)


@operation(blueprint, "POST", f"{_ONE}/run", answers={202: AskedIssue}, is_repeatable=True)
def issue_again(name: str, query: InProject) -> tuple[AskedIssue, int]:
    """Issue a report now: by its schedule, or without one as its newest issue was."""
    asked = run_report(current_registry().database, project=query.project, name=name)
    return AskedIssue(name=asked.name, number=asked.number), 202


@operation(blueprint, "GET", _ISSUE, answers=IssueWithFigures)
def get_issue(name: str, number: int, query: InProject) -> IssueWithFigures:
    """Read one issue with its figures, its deliveries and its files."""
    database = current_registry().database
    return issue_with_figures(
        issue_page(database, project=query.project, name=name, number=number)
    )


@operation(blueprint, "GET", f"{_ISSUE}/files/<string:file>", answers={200: None}, files=_FILES)
def get_issue_file(name: str, number: int, file: str, query: InProject) -> Response:
    """Read one form of an issue, byte for byte."""
    stored = edition_file(
        current_registry().database, project=query.project, name=name, number=number, kind=file
    )
    response = make_response(stored.content)
    response.headers["Content-Type"] = stored.content_type
    response.headers["Content-Disposition"] = (
        f'attachment; filename="issue-{number}.{stored.kind}"'
    )
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


@operation(blueprint, "POST", f"{_ISSUE}/retry", answers=IssueDetail)
def retry_issue(name: str, number: int, query: InProject) -> IssueDetail:
    """Compute an issue again that failed."""
    database = current_registry().database
    edition.retry_issue(database, project=query.project, name=name, number=number)
    return _issue(query.project, name, number)


@operation(
    blueprint, "POST", f"{_ISSUE}/deliveries/<number:delivery_id>/retry", answers=IssueDetail
)
def retry_delivery(name: str, number: int, delivery_id: int, query: InProject) -> IssueDetail:
    """Send an issue again to a target that it did not reach."""
    edition.retry_delivery(
        current_registry().database,
        project=query.project,
        name=name,
        number=number,
        delivery_id=delivery_id,
    )
    return _issue(query.project, name, number)


def _issue(project: str, name: str, number: int) -> IssueDetail:
    page = issue_page(current_registry().database, project=project, name=name, number=number)
    return issue_detail(page)
