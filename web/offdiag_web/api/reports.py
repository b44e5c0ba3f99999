"""API operations on reports: their schedules, editions and deliveries."""

from __future__ import annotations

from flask import Response, make_response

from offdiag.records.base import InProject
from offdiag.records.report import (
    AskedEdition,
    EditionDetail,
    EditionsQuery,
    EditionWithFigures,
    NewReport,
    ReportDetail,
    ReportList,
    SchedulesQuery,
    asked_reports,
    edition_detail,
    edition_with_figures,
    report_detail,
    targets_of,
)
from offdiag.records.schedule import (
    NewSchedule,
    Plan,
    Removed,
    Schedule,
    ScheduleList,
    schedule_document,
    schedule_list,
)
from offdiag.services.reports import edition
from offdiag.services.reports.edition import report_now
from offdiag.services.reports.page import edition_file, edition_page
from offdiag.services.schedules import edit
from offdiag.services.schedules.edit import run_report
from offdiag.services.schedules.page import report_page, schedule_page, schedules_page
from offdiag_web.api.operations import operation, require_match, resource
from offdiag_web.app.context import current_registry

blueprint = resource("reports")

_REPORT = "/reports/<name:name>"
_EDITION = f"{_REPORT}/editions/<number:number>"
_FORMER_EDITION = f"{_REPORT}/issues/<number:number>"
"""The path of editions when they were called issues, which is still answered."""
_FILE = "/files/<string:file>"
_DELIVERY = "/deliveries/<number:delivery_id>/retry"
_FILES = ("text/html", "application/json", "text/csv", "text/plain")


@operation(blueprint, "GET", "/reports")
def list_reports(query: SchedulesQuery) -> ReportList:
    """Read all reports with their newest editions."""
    return asked_reports(current_registry().database, query)


@operation(blueprint, "POST", "/reports", statuses=(202,), is_repeatable=True)
def create_report(json: NewReport) -> tuple[AskedEdition, int]:
    """Create a one-off report now; a worker computes it."""
    asked = report_now(
        current_registry().database,
        name=json.name,
        scope=json.scope.scope(json.project),
        delivery=targets_of(json.delivery),
        zone=json.zone,
    )
    return AskedEdition(name=asked.name, number=asked.number), 202


@operation(blueprint, "GET", _REPORT)
def get_report(name: str, query: EditionsQuery) -> ReportDetail:
    """Read a report with some of its editions, newest first."""
    page = report_page(
        current_registry().database,
        project=query.project,
        name=name,
        start=query.start,
        limit=query.limit,
    )
    return report_detail(page, start=query.start)


@operation(blueprint, "POST", f"{_REPORT}/run", statuses=(202,), is_repeatable=True)
def create_again(name: str, query: InProject) -> tuple[AskedEdition, int]:
    """Create an edition now: by its schedule, or else with the scope of its newest edition."""
    asked = run_report(current_registry().database, project=query.project, name=name)
    return AskedEdition(name=asked.name, number=asked.number), 202


@operation(blueprint, "GET", _EDITION, former_path=_FORMER_EDITION)
def get_edition(name: str, number: int, query: InProject) -> EditionWithFigures:
    """Read one edition with its values, its deliveries and its files."""
    database = current_registry().database
    return edition_with_figures(
        edition_page(database, project=query.project, name=name, number=number)
    )


@operation(
    blueprint, "GET", f"{_EDITION}{_FILE}", files=_FILES, former_path=f"{_FORMER_EDITION}{_FILE}"
)
def get_edition_file(name: str, number: int, file: str, query: InProject) -> Response:
    """Read an edition in one format, byte for byte."""
    stored = edition_file(
        current_registry().database, project=query.project, name=name, number=number, kind=file
    )
    response = make_response(stored.content)
    response.headers["Content-Type"] = stored.content_type
    response.headers["Content-Disposition"] = (
        f'attachment; filename="edition-{number}.{stored.kind}"'
    )
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


@operation(blueprint, "POST", f"{_EDITION}/retry", former_path=f"{_FORMER_EDITION}/retry")
def retry_edition(name: str, number: int, query: InProject) -> EditionDetail:
    """Compute a failed edition again."""
    database = current_registry().database
    edition.retry_edition(database, project=query.project, name=name, number=number)
    return _edition(query.project, name, number)


@operation(
    blueprint, "POST", f"{_EDITION}{_DELIVERY}", former_path=f"{_FORMER_EDITION}{_DELIVERY}"
)
def retry_delivery(name: str, number: int, delivery_id: int, query: InProject) -> EditionDetail:
    """Retry the failed delivery of an edition to a target."""
    edition.retry_delivery(
        current_registry().database,
        project=query.project,
        name=name,
        number=number,
        delivery_id=delivery_id,
    )
    return _edition(query.project, name, number)


def _edition(project: str, name: str, number: int) -> EditionDetail:
    page = edition_page(current_registry().database, project=project, name=name, number=number)
    return edition_detail(page)


_SCHEDULE = "/schedules/<name:name>"


@operation(blueprint, "GET", "/schedules")
def list_schedules(query: SchedulesQuery) -> ScheduleList:
    """Read all schedules with their next times."""
    page = schedules_page(current_registry().database, project=query.project)
    return schedule_list(page)


@operation(blueprint, "POST", "/schedules", statuses=(201,), is_repeatable=True)
def add_schedule(json: NewSchedule) -> tuple[Schedule, int]:
    """Create a schedule; its first edition is created at its next time."""
    edit.add_schedule(
        current_registry().database,
        name=json.name,
        cron=json.cron,
        zone=json.zone,
        scope=json.scope.scope(json.project),
        delivery=targets_of(json.delivery),
    )
    return _schedule(json.project, json.name), 201


@operation(blueprint, "GET", _SCHEDULE)
def get_schedule(name: str, query: InProject) -> Schedule:
    """Read a schedule."""
    return _schedule(query.project, name)


@operation(blueprint, "PUT", _SCHEDULE, is_guarded=True)
def change_schedule(name: str, json: Plan) -> Schedule:
    """Replace the plan, the scope and the targets of a schedule; the numbering of its editions
    continues. With `If-Match`, only if it has not changed since it was read.
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


@operation(blueprint, "DELETE", _SCHEDULE, is_guarded=True)
def remove_schedule(name: str, query: InProject) -> Removed:
    """Remove a schedule; its editions stay."""
    known = _schedule(query.project, name)
    edit.remove_schedule(
        current_registry().database,
        project=query.project,
        name=name,
        seen_version=known.version if require_match(known) else None,
    )
    return Removed(project=query.project, name=name)


@operation(blueprint, "POST", f"{_SCHEDULE}/pause")
def pause_schedule(name: str, query: InProject) -> Schedule:
    """Pause a schedule until it is resumed."""
    edit.pause_schedule(current_registry().database, project=query.project, name=name)
    return _schedule(query.project, name)


@operation(blueprint, "POST", f"{_SCHEDULE}/resume")
def resume_schedule(name: str, query: InProject) -> Schedule:
    """Resume a schedule from its next time on."""
    edit.resume_schedule(current_registry().database, project=query.project, name=name)
    return _schedule(query.project, name)


@operation(blueprint, "POST", f"{_SCHEDULE}/run", statuses=(202,), is_repeatable=True)
def run_schedule(name: str, query: InProject) -> tuple[AskedEdition, int]:
    """Create an edition now, in addition to the planned ones."""
    asked = edit.run_schedule(current_registry().database, project=query.project, name=name)
    return AskedEdition(name=asked.name, number=asked.number), 202


def _schedule(project: str, name: str) -> Schedule:
    found = schedule_page(current_registry().database, project=project, name=name)
    return schedule_document(found)
