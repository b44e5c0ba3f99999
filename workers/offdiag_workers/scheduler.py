"""The scheduler: threads that call functions again and again, and store nothing.

What is due is in our own tables, every call is idempotent, and any number of processes may run the
scheduler. The time between two calls is measured by a clock that is never set: a scheduler that
planned its next call by the time of day would stand still for an hour if that was set back by one.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, timedelta

import structlog

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

SCHEDULES_EVERY_S = 1.0
RECONCILE_EVERY_S = 5.0
MAINTENANCE_EVERY_S = 60.0
"""Seconds between two checks whether a backup or the nightly deletion is due."""
NIGHT = timedelta(hours=3)
"""When nightly deletion begins, in UTC."""
_SPREAD_S = 600.0
"""Each process begins at a random time in so many seconds, so that not all do at once."""
NIGHTLY = Actor("system", "clock", "gc.nightly")
"""The actor in the audit log for nightly deletion."""


class _StoppedError(Exception):
    """Cancels a backup because the process is about to end; the next process makes it."""


@dataclass(frozen=True, slots=True)
class Round:
    """A named function, and how many seconds pass between its calls."""

    name: str
    every_s: float
    act: Callable[[], None]


class Maintenance:
    """The backups and nightly deletion that settings ask for; they can be ended early."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._stopped = threading.Event()
        self._begins = NIGHT + timedelta(seconds=random.uniform(0, _SPREAD_S))  # noqa: S311
        self._collected: date | None = None

    def rounds(self) -> list[Round]:
        """All rounds that are switched on; none by default."""
        found = []
        if self._settings.backup.folder and self._database.dialect == "sqlite":
            found.append(Round("backup", MAINTENANCE_EVERY_S, self.back_up))
        elif self._settings.backup.folder:
            log.warning("no_backups", reason="PostgreSQL is backed up by its own tools")
        if self._settings.gc.nightly:
            found.append(Round("collect", MAINTENANCE_EVERY_S, self.collect_once_a_night))
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

    def collect_once_a_night(self) -> None:
        """Collect when the process starts, and after three o'clock in each night (UTC)."""
        night = (self._database.clock() - self._begins).date()
        if night != self._collected:
            self.collect()
            self._collected = night

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


@contextmanager
def run_scheduler(
    database: Database, policy: RetryPolicy, maintenance: Maintenance | None = None
) -> Iterator[None]:
    """Run the scheduler in threads of its own while the block runs. The first round is immediate.

    Each round has a thread, so that none waits for a maintenance round, which may take long.
    """
    runner, stopped = ScheduleRunner(database), threading.Event()
    rounds = (
        Round("reconcile", RECONCILE_EVERY_S, lambda: _reconcile(database, policy)),
        Round("schedules", SCHEDULES_EVERY_S, runner.run_due),
    )
    for each in rounds:
        _safely(each)
    upkeep = [] if maintenance is None else maintenance.rounds()
    threads = [
        threading.Thread(target=_repeat, args=(each, stopped, wait_s), name=each.name, daemon=True)
        for each, wait_s in (
            *((each, each.every_s) for each in rounds),
            *((each, 0.0) for each in upkeep),
        )
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        if maintenance is not None:
            maintenance.stop()
        for thread in threads:
            thread.join()
        runner.stop()


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


def _repeat(each: Round, stopped: threading.Event, wait_s: float) -> None:
    """Call a round again and again, first after `wait_s` seconds. An error ends only that call."""
    while not stopped.wait(wait_s):
        try:
            _safely(each)
        except Exception:
            log.exception("round_failed", act=each.name)
        wait_s = each.every_s


def _safely(each: Round) -> None:
    """Do a round; if the database is unavailable, log it and wait for the next one.

    The same holds for a changed schema, which ends the worker in this process.
    """
    try:
        each.act()
    except (DatabaseUnavailable, SchemaMismatch) as error:
        log.warning("scheduler_skipped", act=each.name, error=str(error))


def _reconcile(database: Database, policy: RetryPolicy) -> None:
    reconciled = reconcile(database, policy)
    if reconciled.failed or reconciled.submitted:
        log.info("reconciled", failed=reconciled.failed, submitted=reconciled.submitted)
    again = submit_missing(database)
    if again.editions or again.deliveries:
        log.info("submitted_again", editions=again.editions, deliveries=again.deliveries)
