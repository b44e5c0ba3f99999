"""Reports: their schedules, issues and deliveries."""

from __future__ import annotations

from flask import Response, make_response

from offdiag.records.base import InProject
from offdiag.records.report import (
    AskedIssue,
    EditionsQuery,
    IssueDetail,
    IssueWithFigures,
    NewReport,
    NewSchedule,
    Plan,
    Removed,
    ReportDetail,
    ReportList,
    Schedule,
    ScheduleList,
    SchedulesQuery,
    issue_detail,
    issue_with_figures,
    report_detail,
    report_list,
    schedule_document,
    schedule_list,
    targets_of,
)
from offdiag.services.reports import edition
from offdiag.services.reports.edition import report_now
from offdiag.services.reports.page import edition_file, issue_page, reports_page
from offdiag.services.schedules import edit
from offdiag.services.schedules.edit import run_report
from offdiag.services.schedules.page import report_page, schedule_page, schedules_page
from offdiag_web.api.operations import operation, require_match, resource
from offdiag_web.app.context import current_registry

blueprint = resource("reports")

_REPORT = "/reports/<name:name>"
_ISSUE = f"{_REPORT}/issues/<number:number>"
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
        scope=json.scope.scope(json.project),
        delivery=targets_of(json.delivery),
        zone=json.zone,
    )
    return AskedIssue(name=asked.name, number=asked.number), 202


@operation(blueprint, "GET", _REPORT, answers=ReportDetail)
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


@operation(blueprint, "POST", f"{_REPORT}/run", answers={202: AskedIssue}, is_repeatable=True)
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


_SCHEDULE = "/schedules/<name:name>"


@operation(blueprint, "GET", "/schedules", answers=ScheduleList)
def list_schedules(query: SchedulesQuery) -> ScheduleList:
    """Read all schedules with the next times they mean."""
    page = schedules_page(current_registry().database, project=query.project)
    return schedule_list(page)


@operation(blueprint, "POST", "/schedules", answers={201: Schedule}, is_repeatable=True)
def add_schedule(json: NewSchedule) -> tuple[Schedule, int]:
    """Make a schedule; its first issue comes at the next time it means."""
    edit.add_schedule(
        current_registry().database,
        name=json.name,
        cron=json.cron,
        zone=json.zone,
        scope=json.scope.scope(json.project),
        delivery=targets_of(json.delivery),
    )
    return _schedule(json.project, json.name), 201


@operation(blueprint, "GET", _SCHEDULE, answers=Schedule)
def get_schedule(name: str, query: InProject) -> Schedule:
    """Read a schedule."""
    return _schedule(query.project, name)


@operation(blueprint, "PUT", _SCHEDULE, answers=Schedule, is_guarded=True)
def change_schedule(name: str, json: Plan) -> Schedule:
    """Replace the plan, the scope and the targets of a schedule; its issues go on counting.

    With `If-Match`, only while it is as its reader saw it.
    """
    known = _schedule(json.project, name)
    edit.change_schedule(
        current_registry().database,
        name=name,
        cron=json.cron,
        zone=json.zone,
        scope=json.scope.scope(json.project),
        delivery=targets_of(json.delivery),
        seen_version=known.version if require_match(known) else None,
    )
    return _schedule(json.project, name)


@operation(blueprint, "DELETE", _SCHEDULE, answers=Removed, is_guarded=True)
def remove_schedule(name: str, query: InProject) -> Removed:
    """Remove a schedule; its issues stay."""
    require_match(_schedule(query.project, name))
    edit.remove_schedule(current_registry().database, project=query.project, name=name)
    return Removed(project=query.project, name=name)


@operation(blueprint, "POST", f"{_SCHEDULE}/pause", answers=Schedule)
def pause_schedule(name: str, query: InProject) -> Schedule:
    """Let a schedule issue nothing until it is resumed."""
    edit.pause_schedule(current_registry().database, project=query.project, name=name)
    return _schedule(query.project, name)


@operation(blueprint, "POST", f"{_SCHEDULE}/resume", answers=Schedule)
def resume_schedule(name: str, query: InProject) -> Schedule:
    """Let a schedule issue from its next time on."""
    edit.resume_schedule(current_registry().database, project=query.project, name=name)
    return _schedule(query.project, name)


@operation(blueprint, "POST", f"{_SCHEDULE}/run", answers={202: AskedIssue}, is_repeatable=True)
def run_schedule(name: str, query: InProject) -> tuple[AskedIssue, int]:
    """Issue a report now, beside the planned ones."""
    asked = edit.run_schedule(current_registry().database, project=query.project, name=name)
    return AskedIssue(name=asked.name, number=asked.number), 202


def _schedule(project: str, name: str) -> Schedule:
    found = schedule_page(current_registry().database, project=project, name=name)
    return schedule_document(found)
