"""Schedules of reports: made, changed, paused, resumed, run, removed."""

from __future__ import annotations

from offdiag.records.base import InProject
from offdiag.records.report import (
    AskedIssue,
    NewSchedule,
    Plan,
    Removed,
    Schedule,
    ScheduleList,
    SchedulesQuery,
    schedule_document,
    schedule_list,
)
from offdiag.services.schedules import edit
from offdiag.services.schedules.page import schedule_page, schedules_page
from offdiag_web.api.operations import operation, require_match, resource
from offdiag_web.api.report_bodies import scope_of, targets_of
from offdiag_web.app.context import current_registry

blueprint = resource("schedules")

_ONE = "/schedules/<name:name>"


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
        scope=scope_of(json.scope, json.project),
        delivery=targets_of(json.delivery),
    )
    return _schedule(json.project, json.name), 201


@operation(blueprint, "GET", _ONE, answers=Schedule)
def get_schedule(name: str, query: InProject) -> Schedule:
    """Read a schedule."""
    return _schedule(query.project, name)


@operation(blueprint, "PUT", _ONE, answers=Schedule, is_guarded=True)
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
        scope=scope_of(json.scope, json.project),
        delivery=targets_of(json.delivery),
        seen_version=known.version if require_match(known) else None,
    )
    return _schedule(json.project, name)


@operation(blueprint, "DELETE", _ONE, answers=Removed, is_guarded=True)
def remove_schedule(name: str, query: InProject) -> Removed:
    """Remove a schedule; its issues stay."""
    require_match(_schedule(query.project, name))
    edit.remove_schedule(current_registry().database, project=query.project, name=name)
    return Removed(project=query.project, name=name)


@operation(blueprint, "POST", f"{_ONE}/pause", answers=Schedule)
def pause_schedule(name: str, query: InProject) -> Schedule:
    """Let a schedule issue nothing until it is resumed."""
    edit.pause_schedule(current_registry().database, project=query.project, name=name)
    return _schedule(query.project, name)


@operation(blueprint, "POST", f"{_ONE}/resume", answers=Schedule)
def resume_schedule(name: str, query: InProject) -> Schedule:
    """Let a schedule issue from its next time on."""
    edit.resume_schedule(current_registry().database, project=query.project, name=name)
    return _schedule(query.project, name)


@operation(blueprint, "POST", f"{_ONE}/run", answers={202: AskedIssue}, is_repeatable=True)
def run_schedule(name: str, query: InProject) -> tuple[AskedIssue, int]:
    """Issue a report now, beside the planned ones."""
    asked = edit.run_schedule(current_registry().database, project=query.project, name=name)
    return AskedIssue(name=asked.name, number=asked.number), 202


def _schedule(project: str, name: str) -> Schedule:
    found = schedule_page(current_registry().database, project=project, name=name)
    return schedule_document(found)
