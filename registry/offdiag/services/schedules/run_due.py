"""Turning time into issues: called every second by every process that likes to.

A fire is one row, keyed by schedule and local wall time, inserted together with the work that
computes it and with the schedule's next time. Whoever comes second finds the key taken or the
next time moved on, so any number of processes may run the scheduler, none has to be the leader,
and none has to survive.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from offdiag.errors import InvalidInput
from offdiag.services.jobs.submit import submit_report
from offdiag.services.schedules.times import Missed, Plan, missed, next_due_time
from offdiag.store import reports, schedules
from offdiag.store.database import Database, database_time
from offdiag.store.reports import NewEdition
from offdiag.store.schedules import ScheduleRecord
from offdiag.store.session import Session

_A_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class DueReport:
    """A schedule that fired, for which wall time, and how many missed fires that covers."""

    project: str
    name: str
    fire_time: str
    covers_missed: int


@dataclass(frozen=True, slots=True)
class DueSchedules:
    """What a round of the schedules did, and why some could not be read."""

    fired: tuple[DueReport, ...]
    unreadable: tuple[str, ...]


def run_due_schedules(database: Database, now: datetime | None = None) -> DueSchedules:
    """Issue what is due at `now`, the time of the database unless one is given.

    Fires that nobody was there for become one issue, for the latest of them, that says how
    many it covers. Raises `DatabaseUnavailable`.
    """
    with database.read() as session:
        moment = now or database_time(session)
        due = schedules.due_schedules(session, moment.timestamp())
    fired, unreadable = [], []
    for schedule in due:
        try:
            found = _run_due(database, schedule, moment)
        except InvalidInput as error:
            # The zone may be missing on this host only. Others shall not wait for it.
            unreadable.append(f"{schedule.project}/{schedule.name}: {error}")
            continue
        if found is not None:
            fired.append(found)
    return DueSchedules(tuple(fired), tuple(unreadable))


def _run_due(database: Database, schedule: ScheduleRecord, now: datetime) -> DueReport | None:
    plan = Plan.read(schedule.cron, schedule.zone)
    planned = datetime.fromtimestamp(schedule.next_due or 0.0, UTC)
    found = missed(plan, planned - _A_MOMENT, now)
    next_due = next_due_time(plan, now).due.timestamp()
    with database.write() as session:
        last_fire = None if found is None else found.latest.key
        if not schedules.advance(session, schedule, last_fire=last_fire, next_due=next_due):
            return None
        if found is None or not _create_edition(session, database, schedule, found):
            return None
    return DueReport(schedule.project, schedule.name, found.latest.key, found.earlier)


def _create_edition(
    session: Session, database: Database, schedule: ScheduleRecord, found: Missed
) -> bool:
    """Insert the issue of a fire with its work. False if that fire was issued before."""
    reports.lock_series(session, schedule.project_id)
    number = reports.next_number(session, project_id=schedule.project_id, name=schedule.name)
    issue = NewEdition(
        schedule_id=schedule.id,
        project_id=schedule.project_id,
        name=schedule.name,
        fire_time=found.latest.key,
        due=found.latest.due.timestamp(),
        covers_missed=found.earlier,
        scope=schedule.scope,
        delivery=schedule.delivery,
    )
    issue_id = reports.insert_edition(session, issue, number=number, now=database.clock())
    if issue_id is None:
        return False
    submit_report(session, issue_id)
    return True
