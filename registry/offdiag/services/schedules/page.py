"""The data of the schedule pages and of a report's page: its plan and its editions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.schedule import cron_in_words
from offdiag.errors import InvalidInput
from offdiag.reports.document import read_report
from offdiag.reports.report import HistoryPoint
from offdiag.services.jobs.page import is_alive
from offdiag.services.reports.page import (
    ReportEntry,
    ReportsPage,
    baseline_names,
    edition_named,
    report_entry,
    reports_page,
)
from offdiag.services.schedules.due import DueTime, Plan, next_due_times, no_schedule
from offdiag.store import deliveries, schedules
from offdiag.store.database import Database, database_time
from offdiag.store.deliveries import DeliveryRecord
from offdiag.store.job_lease import list_heartbeats
from offdiag.store.reports import EditionRecord, editions_of, newest_report_file
from offdiag.store.schedules import ScheduleRecord

SHOWN_AHEAD = 5


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """A plan in words, and its next due times."""

    words: str
    next_due_times: tuple[DueTime, ...]


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    """A schedule with its plan in words. A paused one has no next due times.

    `problem` says why the plan cannot be read on this machine; it is usually None.
    """

    schedule: ScheduleRecord
    report: ReportEntry
    words: str
    next_due_times: tuple[DueTime, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SchedulesPage:
    """All schedules by project and name, and whether a scheduler is running."""

    entries: tuple[ScheduleEntry, ...]
    reports: ReportsPage


def preview_plan(database: Database, *, cron: str, zone: str) -> PlanPreview:
    """What a cron expression would mean from now on. Raises `InvalidInput`."""
    plan = Plan.read(cron, zone)
    with database.read() as session:
        now = database_time(session)
    return PlanPreview(cron_in_words(plan.cron, zone), next_due_times(plan, now, SHOWN_AHEAD))


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
    raise no_schedule(project, name)


def schedule_entry(schedule: ScheduleRecord, report: ReportEntry, now: datetime) -> ScheduleEntry:
    """A schedule as shown at a given moment."""
    try:
        plan = Plan.read(schedule.cron, schedule.zone)
    except InvalidInput as error:
        return ScheduleEntry(schedule, report, schedule.cron, (), str(error))
    ahead = next_due_times(plan, now, SHOWN_AHEAD) if schedule.enabled else ()
    return ScheduleEntry(schedule, report, cron_in_words(plan.cron, schedule.zone), ahead)


EDITIONS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class EditionEntry:
    """One edition of a report with its deliveries."""

    edition: EditionRecord
    deliveries: tuple[DeliveryRecord, ...]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """One report with some of its editions, newest first, and the series of its best values.

    `planned` is its schedule, None if it has none; `has_scheduler` says whether a scheduler is
    running, and is true if nothing is planned. `baseline` is the name of the run with which the
    others are compared, None if there is none or it was deleted.
    """

    entry: ReportEntry
    baseline: str | None
    planned: ScheduleEntry | None
    has_scheduler: bool
    editions: tuple[EditionEntry, ...]
    history: tuple[HistoryPoint, ...]


def report_page(
    database: Database, *, project: str, name: str, start: int = 0, limit: int = EDITIONS_PER_PAGE
) -> ReportPage:
    """One report with `limit` of its editions from number `start` on, the newest being 0.

    Seven statements at most. Raises `NotFound`.
    """
    with database.read() as session:
        schedule = schedules.find_schedule(session, project=project, name=name)
        found = editions_of(session, project=project, name=name, start=start, limit=limit)
        sent = deliveries.deliveries_of(session, [edition.id for edition in found.editions])
        last = found.editions[0] if found.editions else None
        # Without a schedule there is an edition; if none is on this page, take the newest of all.
        source = schedule or last or edition_named(session, project, name, None)
        # Deliveries and summaries are shown with the editions.
        entry = report_entry(source, schedule, last, n_editions=found.n_editions)
        baseline = baseline_names(session, [entry]).get(entry.scope.baseline or "")
        content = newest_report_file(session, project=project, name=name)
        report = None if content is None else read_report(json.loads(content))
        history = () if report is None else report.history
        now = None if schedule is None else database_time(session)
        has_scheduler = schedule is None or is_alive(list_heartbeats(session, "scheduler"))
    return ReportPage(
        entry=entry,
        baseline=baseline,
        planned=None if now is None or schedule is None else schedule_entry(schedule, entry, now),
        has_scheduler=has_scheduler,
        editions=tuple(
            EditionEntry(edition, tuple(sent[edition.id])) for edition in found.editions
        ),
        history=history,
    )
