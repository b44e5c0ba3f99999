"""What the pages of schedules show, one function per page and one transaction per call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.schedule import cron_in_words
from offdiag.errors import InvalidInput, NotFound
from offdiag.services.reports.pages import ReportEntry, ReportsPage, reports_page
from offdiag.services.schedules.fires import Fire, Plan, next_fires
from offdiag.store.clock import database_time
from offdiag.store.database import Database
from offdiag.store.schedules import ScheduleRecord

SHOWN_AHEAD = 5


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """A plan in words, and the next times it means."""

    words: str
    next_fires: tuple[Fire, ...]


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    """A schedule with its plan in words. A paused one has no next times.

    `problem` says why the plan cannot be read on this machine; it is None for all but odd ones.
    """

    schedule: ScheduleRecord
    report: ReportEntry
    words: str
    next_fires: tuple[Fire, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SchedulesPage:
    """All schedules by project and name, and whether anybody ticks."""

    entries: tuple[ScheduleEntry, ...]
    reports: ReportsPage


def preview_plan(database: Database, *, cron: str, zone: str) -> PlanPreview:
    """What an expression would mean from now on. Raises `InvalidInput`."""
    plan = Plan.read(cron, zone)
    with database.read() as session:
        now = database_time(session)
    return PlanPreview(cron_in_words(plan.cron, zone), next_fires(plan, now, SHOWN_AHEAD))


def schedules_page(database: Database, *, project: str | None = None) -> SchedulesPage:
    """All schedules of the registry, or of one project."""
    reports = reports_page(database, project=project)
    with database.read() as session:
        now = database_time(session)
    entries = tuple(
        schedule_entry(report.schedule, report, now)
        for report in reports.entries
        if report.schedule is not None
    )
    return SchedulesPage(entries, reports)


def schedule_page(database: Database, *, project: str, name: str) -> ScheduleEntry:
    """One schedule. Raises `NotFound`."""
    for entry in schedules_page(database, project=project).entries:
        if entry.schedule.name == name:
            return entry
    raise NotFound(
        f"project {project!r} has no schedule {name!r}.",
        field="name",
        hint="`offdiag schedule list` shows the schedules there are.",
    )


def schedule_entry(schedule: ScheduleRecord, report: ReportEntry, now: datetime) -> ScheduleEntry:
    """A schedule as it is to be shown at a moment."""
    try:
        plan = Plan.read(schedule.cron, schedule.zone)
    except InvalidInput as error:
        return ScheduleEntry(schedule, report, schedule.cron, (), str(error))
    ahead = next_fires(plan, now, SHOWN_AHEAD) if schedule.enabled else ()
    return ScheduleEntry(schedule, report, cron_in_words(plan.cron, schedule.zone), ahead)
