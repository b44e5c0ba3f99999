"""The scheduler: APScheduler used only as a clock that calls functions and stores nothing.

The job stores of APScheduler ran jobs twice with two schedulers and lost a job whose process was
killed, so nothing is kept in them: what is due is in our own tables, every call is idempotent, and
any number of processes may run the scheduler.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger

from offdiag.domain.access import Actor
from offdiag.errors import DatabaseUnavailable, OffdiagError, SchemaMismatch
from offdiag.services.health import EVERY_S, beat, heart_of_this_process, stop_beating
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.reconcile import reconcile, submit_missing
from offdiag.services.retention.deletion import Collected, collect
from offdiag.services.schedules.due import run_due_schedules
from offdiag.settings import Settings
from offdiag.store.database import Database

log = structlog.get_logger()

BACKUP_CHECK_EVERY_S = 60
"""Seconds between two checks whether a backup is due."""
NIGHT_HOUR = 3
NIGHTLY = Actor("system", "clock", "gc.nightly")
"""The actor in the audit log for nightly deletion."""


class _StoppedError(Exception):
    """Cancels a backup because the process is about to end; the next process makes it."""


class Every(BaseTrigger):  # type: ignore[misc]  # The library has no types.
    """Calls a number of seconds after the last one.

    The interval trigger of the library counts all intervals since then, for minutes if the clock
    was set ahead by months.
    """

    def __init__(self, seconds: float) -> None:
        self._interval = timedelta(seconds=seconds)

    def get_next_fire_time(self, _previous: datetime | None, now: datetime) -> datetime:
        """The time of the next call, which the library asks for as soon as one is due."""
        return now + self._interval


@dataclass(frozen=True, slots=True)
class Round:
    """A named function with the trigger that decides when it is called."""

    name: str
    trigger: BaseTrigger
    act: Callable[[], None]


class Maintenance:
    """The backups and nightly deletion that settings ask for; they can be ended early."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._stopped = threading.Event()

    def rounds(self) -> list[Round]:
        """All rounds that are switched on; none by default."""
        found = []
        if self._settings.backup.folder and self._database.dialect == "sqlite":
            found.append(Round("backup", Every(BACKUP_CHECK_EVERY_S), self.back_up))
        elif self._settings.backup.folder:
            log.warning("no_backups", reason="PostgreSQL is backed up by its own tools")
        if self._settings.gc.nightly:
            nightly = CronTrigger(hour=NIGHT_HOUR, minute=0, timezone="UTC", jitter=600)
            found.append(Round("collect", nightly, self.collect))
        return found

    def back_up(self) -> None:
        """Make the backup that is due, if one is."""
        from offdiag.services.retention.backups import back_up_if_due

        began = time.monotonic()
        try:
            path = back_up_if_due(
                self._database, self._settings.backup, progress=self._require_time
            )
        except _StoppedError:
            return
        except OffdiagError as error:
            log.warning("backup_failed", error=str(error))
            return
        if path is not None:
            log.info("backed_up", file=str(path), duration_s=round(time.monotonic() - began, 3))

    def collect(self) -> None:
        """Permanently delete old deleted runs, superseded evaluations and expired responses."""
        keep = self._settings.gc
        found = collect(
            self._database.seen_by(None, NIGHTLY),
            older_than=timedelta(days=keep.older_than_days),
            keep=keep.keep,
            is_stopped=self._stopped.is_set,
        )
        if found != Collected(0, 0, 0):
            log.info("collected", runs=found.deleted_runs, evaluations=found.evaluations)

    def stop(self) -> None:
        """Ask running work to end soon."""
        self._stopped.set()

    def _require_time(self, _n_done: int, _n_rows: int) -> None:
        if self._stopped.is_set():
            raise _StoppedError


_scheduler_log = logging.getLogger("apscheduler.scheduler")

SCHEDULES_EVERY_S = 1
RECONCILE_EVERY_S = 5


@contextmanager
def run_scheduler(
    database: Database, policy: RetryPolicy, maintenance: Maintenance | None = None
) -> Iterator[None]:
    """Run the scheduler in threads of its own while the block runs. The first round is immediate.

    Maintenance rounds may take long, so they have a thread to themselves.
    """
    scheduler = BackgroundScheduler(
        jobstores={"default": MemoryJobStore()},
        executors={"default": ThreadPoolExecutor(2), "maintenance": ThreadPoolExecutor(1)},
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        timezone="UTC",
    )
    _scheduler_log.addFilter(_is_no_skipped_round)
    runner = ScheduleRunner(database)
    for name, seconds, act in (
        ("reconcile", RECONCILE_EVERY_S, lambda: _reconcile(database, policy)),
        ("schedules", SCHEDULES_EVERY_S, runner.run_due),
    ):
        _safely(name, act)
        scheduler.add_job(_safely, Every(seconds), args=(name, act))
    for each in () if maintenance is None else maintenance.rounds():
        scheduler.add_job(
            _safely,
            each.trigger,
            args=(each.name, each.act),
            executor="maintenance",
            next_run_time=datetime.now(UTC),
        )
    scheduler.start()
    stopped = threading.Event()
    watch = threading.Thread(target=_call_at_once_if_set_back, args=(scheduler, stopped))
    watch.start()
    try:
        yield
    finally:
        stopped.set()
        watch.join()
        if maintenance is not None:
            maintenance.stop()
        scheduler.shutdown(wait=True)
        runner.stop()


def _call_at_once_if_set_back(scheduler: BackgroundScheduler, stopped: threading.Event) -> None:
    """Call all functions when the time of day was set back.

    APScheduler plans calls by the time of day, so it would not call any of them until that has
    caught up.
    """
    ahead = time.time() - time.monotonic()
    while not stopped.wait(SCHEDULES_EVERY_S):
        before, ahead = ahead, time.time() - time.monotonic()
        if ahead < before - SCHEDULES_EVERY_S:
            for job in scheduler.get_jobs():
                job.modify(next_run_time=datetime.now(UTC))


class ScheduleRunner:
    """Runs due schedules, sends heartbeats, and logs schedules it cannot read when they change."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._heart = heart_of_this_process("scheduler", database)
        self._beat_at: float | None = None
        self._logged_unreadable: tuple[str, ...] = ()

    def run_due(self) -> None:
        """Create what is due. There is no heartbeat after a failed round."""
        done = run_due_schedules(self._database)
        now = time.monotonic()
        if self._beat_at is None or now - self._beat_at >= EVERY_S:
            beat(self._database, self._heart)
            self._beat_at = now
        for fired in done.fired:
            log.info(
                "fired",
                project=fired.project,
                report=fired.name,
                fire_time=fired.fire_time,
                covers_missed=fired.covers_missed,
            )
        if done.unreadable != self._logged_unreadable:
            for reason in done.unreadable:
                log.warning("schedule_unreadable", reason=reason)
        self._logged_unreadable = done.unreadable

    def stop(self) -> None:
        """Report that this process no longer runs schedules."""
        with suppress(DatabaseUnavailable, SchemaMismatch):
            stop_beating(self._database, self._heart)


def _is_no_skipped_round(record: logging.LogRecord) -> bool:
    """A round that takes longer than its interval is normal on a busy machine, and needs no
    warning: the next round does what the skipped one would have done."""
    return "skipped: maximum number of running instances" not in str(record.msg)


def _safely(name: str, act: Callable[[], None]) -> None:
    """Run `act`; if the database is unavailable, log it and wait for the next round.

    The same holds for a changed schema, which ends the worker in this process.
    """
    try:
        act()
    except (DatabaseUnavailable, SchemaMismatch) as error:
        log.warning("scheduler_skipped", act=name, error=str(error))


def _reconcile(database: Database, policy: RetryPolicy) -> None:
    reconciled = reconcile(database, policy)
    if reconciled.failed or reconciled.submitted:
        log.info("reconciled", failed=reconciled.failed, submitted=reconciled.submitted)
    again = submit_missing(database)
    if again.editions or again.deliveries:
        log.info("submitted_again", editions=again.editions, deliveries=again.deliveries)
