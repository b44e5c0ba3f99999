"""APScheduler as the clock: it turns time into calls, and remembers nothing.

Its job stores ran jobs twice with two schedulers and lost a job whose process was killed, so
nothing is stored in it: what is due lies in our own tables, every call is idempotent, and any
number of processes may run the scheduler.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.services.health import EVERY_S, beat, heart_of_this_process, stop_beating
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.reconcile import reconcile, submit_missing
from offdiag.services.schedules.run_due import run_due_schedules
from offdiag.store.database import Database
from offdiag_workers.maintenance import Maintenance

log = structlog.get_logger()
_scheduler_log = logging.getLogger("apscheduler.scheduler")

SCHEDULES_EVERY_S = 1
RECONCILE_EVERY_S = 5


@contextmanager
def run_scheduler(
    database: Database, policy: RetryPolicy, maintenance: Maintenance | None = None
) -> Iterator[None]:
    """Run the clock in threads of its own while the block runs. The first round is at once.

    The rounds of the upkeep may take long, so they have a thread to themselves.
    """
    scheduler = BackgroundScheduler(
        jobstores={"default": MemoryJobStore()},
        executors={"default": ThreadPoolExecutor(2), "upkeep": ThreadPoolExecutor(1)},
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
        scheduler.add_job(_safely, IntervalTrigger(seconds=seconds), args=(name, act))
    for each in () if maintenance is None else maintenance.rounds():
        scheduler.add_job(
            _safely,
            each.trigger,
            args=(each.name, each.act),
            executor="upkeep",
            next_run_time=datetime.now(UTC),
        )
    scheduler.start()
    try:
        yield
    finally:
        if maintenance is not None:
            maintenance.stop()
        scheduler.shutdown(wait=True)
        runner.stop()


class ScheduleRunner:
    """Ticks, says so now and then, and tells once of schedules that cannot be read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._heart = heart_of_this_process("scheduler", database)
        self._beat_at: float | None = None
        self._told: tuple[str, ...] = ()

    def run_due(self) -> None:
        """Issue what is due. Only a round of the schedules that went well is a sign of life."""
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
        for reason in done.unreadable if done.unreadable != self._told else ():
            log.warning("schedule_unreadable", reason=reason)
        self._told = done.unreadable

    def stop(self) -> None:
        """Say that nobody ticks here any more."""
        with suppress(DatabaseUnavailable, SchemaMismatch):
            stop_beating(self._database, self._heart)


def _is_no_skipped_round(record: logging.LogRecord) -> bool:
    """A round that takes longer than the time between two is the normal case on a busy machine:
    the next one does what this one would have, so nobody has to be warned."""
    return "skipped: maximum number of running instances" not in str(record.msg)


def _safely(name: str, act: Callable[[], None]) -> None:
    """A database that is away for a moment costs this round and nothing else.

    So does one whose schema was changed; whoever works beside the clock ends over that.
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
    if again.issues or again.deliveries:
        log.info("submitted_again", issues=again.issues, deliveries=again.deliveries)
