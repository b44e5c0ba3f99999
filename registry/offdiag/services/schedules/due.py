"""Due times of schedules, and creating the report editions that are due.

APScheduler's cron trigger does the calculation, with wall times only: it takes them as
UTC, where no time is skipped or repeated, and each wall time it finds is then
converted to an instant in the zone of the schedule. With a zone of its own it would find two due
times on the day in autumn when clocks go back, and its numbers for days of the week differ from
cron's.

Any process may call `run_due_schedules` every second. Each due time becomes one row, keyed by
schedule and local wall time, inserted together with the work that computes it and with the
schedule's next time. A second process finds the key in use or the next time already moved on, so
any number of processes may run the scheduler, none has to be the leader, and none has to survive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger

from offdiag.domain.schedule import CronExpression, instant_of, parse_cron, wall_of, zone_of
from offdiag.errors import InvalidInput, NotFound
from offdiag.services.jobs.submit import submit_report
from offdiag.store import reports, schedules
from offdiag.store.database import Database, Session, database_time
from offdiag.store.schedules import ScheduleRecord

_WEEKDAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LOOK_BACK = tuple(timedelta(days=days) for days in (1 / 24, 1, 32, 367, 3_000))
"""How far back the latest due time may be: 29 February comes every eighth year at worst."""
MOST_COUNTED = 10_000
"""Missed due times are counted up to here; a schedule with one a minute gets there in a week."""


@dataclass(frozen=True, slots=True)
class Plan:
    """When something is to happen: a cron expression in a time zone."""

    cron: CronExpression
    zone: ZoneInfo

    @classmethod
    def read(cls, cron: str, zone: str) -> Plan:
        """Read a plan. Raises `InvalidInput` for an unusable expression or zone."""
        return cls(parse_cron(cron), zone_of(zone))


@dataclass(frozen=True, slots=True)
class DueTime:
    """One due time of a plan: the instant, in UTC, and the wall time in the plan's zone."""

    due: datetime
    wall: datetime
    zone: str

    @property
    def key(self) -> str:
        """The due time as local wall time, so that a repeated hour is not due again."""
        return f"{self.wall:%Y-%m-%dT%H:%M} {self.zone}"


def no_schedule(project: str, name: str) -> NotFound:
    """The error for a schedule that does not exist."""
    return NotFound(
        f"project {project!r} has no schedule {name!r}.",
        field="name",
        hint="`offdiag schedule list` shows the schedules there are.",
    )


@dataclass(frozen=True, slots=True)
class Missed:
    """The latest due time in a span of time, and how many earlier ones it stands for.

    `earlier` stops at `MOST_COUNTED`.
    """

    latest: DueTime
    earlier: int


def due_times_after(plan: Plan, instant: datetime) -> Iterator[DueTime]:
    """All due times of a plan later than an aware instant, oldest first, without end."""
    trigger = CronTrigger(
        minute=_listed(plan.cron.minutes, of=60),
        hour=_listed(plan.cron.hours, of=24),
        day=_listed(plan.cron.days, of=31),
        month=_listed(plan.cron.months, of=12),
        # By name, because the trigger counts days from Monday = 0.
        day_of_week=_listed([_WEEKDAY_NAMES[day] for day in plan.cron.weekdays], of=7),
        timezone=UTC,
    )
    wall = wall_of(instant, plan.zone).replace(second=0, microsecond=0)
    last = instant
    while True:
        found = trigger.get_next_fire_time(None, wall.replace(tzinfo=UTC))
        wall = found.replace(tzinfo=None)
        due = instant_of(wall, plan.zone)
        # If it is not later than the last one, its wall time was already shown, or was skipped
        # too.
        if due > last:
            yield DueTime(due, wall_of(due, plan.zone), plan.zone.key)
            last = due
        wall += timedelta(minutes=1)


def next_due_times(plan: Plan, instant: datetime, number: int) -> tuple[DueTime, ...]:
    """The next few due times after an instant."""
    return tuple(islice(due_times_after(plan, instant), number))


def next_due_time(plan: Plan, instant: datetime) -> DueTime:
    """The next due time after an instant."""
    return next(due_times_after(plan, instant))


def missed(plan: Plan, since: datetime, until: datetime) -> Missed | None:
    """The due times that were missed after `since` and up to `until`, None if there are none."""
    latest = _latest(plan, since, until)
    if latest is None:
        return None
    earlier = 0
    for fire in due_times_after(plan, since):
        if fire.due >= latest.due or earlier == MOST_COUNTED:
            break
        earlier += 1
    return Missed(latest, earlier)


def _latest(plan: Plan, since: datetime, until: datetime) -> DueTime | None:
    """The latest due time, searched backwards: a plan by the minute has half a million a year."""
    for back in _LOOK_BACK:
        start = max(since, until - back)
        latest = None
        for fire in due_times_after(plan, start):
            if fire.due > until:
                break
            latest = fire
        if latest is not None or start == since:
            return latest
    return None


def _listed(choices: Sequence[int | str], *, of: int) -> str:
    # A list of all values would be searched from its start for each due time.
    return "*" if len(choices) == of else ",".join(map(str, choices))


_A_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class DueReport:
    """A schedule that was run, for which due time, and how many missed ones that covers."""

    project: str
    name: str
    fire_time: str
    covers_missed: int


@dataclass(frozen=True, slots=True)
class DueSchedules:
    """What one round of the schedules did, and why some could not be read."""

    fired: tuple[DueReport, ...]
    unreadable: tuple[str, ...]


def run_due_schedules(database: Database, now: datetime | None = None) -> DueSchedules:
    """Create the editions that are due at `now`, by default the time of the database.

    If several due times were missed, one edition is created, for the latest of them, that says how
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
            # The zone may be missing only on this host. Other schedules must not wait for it.
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
    """Insert the edition of a due time with its work. False if it already has one."""
    inserted = reports.insert_edition(
        session,
        schedule_id=schedule.id,
        project_id=schedule.project_id,
        name=schedule.name,
        fire_time=found.latest.key,
        due=found.latest.due.timestamp(),
        covers_missed=found.earlier,
        scope=schedule.scope,
        delivery=schedule.delivery,
        now=database.clock(),
    )
    if inserted is None:
        return False
    submit_report(session, inserted[0])
    return True
