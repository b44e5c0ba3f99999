"""A worker process: the worker loop and the scheduler together, ended by a signal."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import structlog

from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.services.health import heart_of_this_process, stop_beating
from offdiag.services.jobs.attempts import Outcome, RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper, Lost
from offdiag.services.jobs.run_job import run_job
from offdiag.services.jobs.submit import Notifier, ServingNotifier, notifier_named
from offdiag.settings import Settings
from offdiag.settings.model import JobsSettings
from offdiag.signals import acting_on_signals
from offdiag.store.database import Database
from offdiag.store.driver_errors import is_away
from offdiag_workers.heartbeat import beating
from offdiag_workers.loop import WorkerReport, attempt_logger, draining, run_worker
from offdiag_workers.scheduler import Maintenance, run_scheduler

log = structlog.get_logger()


def run_engine(
    notifier: ServingNotifier,
    database: Database,
    jobs: JobsSettings,
    *,
    stop: threading.Event,
    on_lost: Callable[[Lost], None] | None = None,
    on_released: Callable[[], None] = lambda: None,
) -> WorkerReport:
    """Perform what the engine hands over until `stop` is set.

    The engine only names work: as in `run_worker`, the work table decides whether it is free and
    how often it is tried, and ensures that it takes effect once. Reconciliation notifies again of
    work that was not done because the database was lost, and of large work that arrived while all
    slots but the one for small work were taken.
    """
    policy = RetryPolicy(max_attempts=jobs.max_attempts)
    outcomes: Counter[Outcome] = Counter()
    for_anything = threading.Semaphore(max(1, jobs.concurrency - 1))
    changed: list[SchemaMismatch] = []
    on_ended = attempt_logger(jobs.engine)
    with (
        beating(database, "worker"),
        LeaseKeeper(database, lease_s=jobs.lease_s, on_lost=on_lost) as keeper,
        draining(keeper, stop, drain_s=jobs.shutdown_timeout_s, on_released=on_released),
    ):

        def run_one(work_id: int) -> None:
            takes_anything = for_anything.acquire(blocking=False)
            at_most = None if takes_anything else jobs.small_job_values
            try:
                outcome = run_job(
                    database, work_id, keeper, policy, at_most=at_most, on_ended=on_ended
                )
            except DatabaseUnavailable as error:
                log.warning("database_unavailable", error=str(error), work=work_id)
                return
            except SchemaMismatch as error:
                changed.append(error)
                stop.set()
                return
            finally:
                if takes_anything:
                    for_anything.release()
            outcomes[outcome] += 1

        notifier.serve(database, run_one, stop)
    if changed:
        raise changed[0]
    return WorkerReport.of(outcomes)


LEASE_LOST_EXIT_CODE = 70
_LEAVING_S = 1.5
"""Seconds allowed for releasing leases and signing off before the process ends anyway."""


def work_until_signal(database: Database, settings: Settings) -> WorkerReport:
    """Run a worker and the scheduler in this process until SIGINT, SIGTERM or SIGHUP."""
    stop = threading.Event()
    policy = RetryPolicy(max_attempts=settings.jobs.max_attempts)
    # Waiting for a file has a time limit, so no thread hangs in it, and while another process
    # keeps the file locked no other worker can take the work either: no reason to end the process.
    on_lost = None if database.dialect == "sqlite" else end_process
    maintenance = Maintenance(database, settings)
    notifier = _ready_once_there(database, settings.jobs)

    def request(number: signal.Signals) -> None:
        log.info("stopping", signal=number.name)
        stop.set()

    def leave() -> None:
        """End the process while a thread still computes a result that will not be accepted."""
        for kind in ("worker", "scheduler"):
            with suppress(DatabaseUnavailable, SchemaMismatch):
                stop_beating(database, heart_of_this_process(kind, database))
        os._exit(0)

    with (
        _ended_in_time(stop, settings.jobs.shutdown_timeout_s + _LEAVING_S),
        acting_on_signals(request),
        run_scheduler(database, policy, maintenance),
    ):
        log.info(
            "worker_started",
            database=database.place,
            engine=settings.jobs.engine,
            slots=settings.jobs.concurrency,
        )
        report = _work(database, settings.jobs, notifier, stop, on_lost=on_lost, on_released=leave)
    log.info("worker_stopped", done=report.done, failed=report.failed)
    return report


@contextmanager
def working_in_background(database: Database, settings: Settings) -> Iterator[None]:
    """Run a worker and the scheduler in threads while the block runs, as beside a web server."""
    stop = threading.Event()
    policy = RetryPolicy(max_attempts=settings.jobs.max_attempts)
    notifier = _ready(database, settings.jobs)
    # A computation that does not end in time is released and left behind.
    thread = threading.Thread(
        target=_work_beside_others,
        args=(database, settings.jobs, notifier, stop),
        name="worker",
        daemon=True,
    )
    with run_scheduler(database, policy, Maintenance(database, settings)):
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(settings.jobs.shutdown_timeout_s + _LEAVING_S)


def _ready(database: Database, jobs: JobsSettings) -> Notifier:
    notifier = notifier_named(jobs.engine)
    if isinstance(notifier, ServingNotifier):
        # Of a server that is away, the engine would say so late and in words of its own.
        with database.read():
            pass
        notifier.prepare(database)
    return notifier


_AGAIN_AFTER_S = 1.0


def _ready_once_there(database: Database, jobs: JobsSettings) -> Notifier:
    while True:
        try:
            return _ready(database, jobs)
        except DatabaseUnavailable as error:
            if not is_away(error):
                raise
            log.warning("database_unavailable", error=str(error))
            time.sleep(_AGAIN_AFTER_S)


def _work(
    database: Database,
    jobs: JobsSettings,
    notifier: Notifier,
    stop: threading.Event,
    *,
    on_lost: Callable[[Lost], None] | None = None,
    on_released: Callable[[], None] = lambda: None,
) -> WorkerReport:
    """Work until `stop` is set: with the engine if it serves work itself, else with the loop."""
    if isinstance(notifier, ServingNotifier):
        return run_engine(
            notifier, database, jobs, stop=stop, on_lost=on_lost, on_released=on_released
        )
    return run_worker(database, jobs, stop=stop, on_lost=on_lost, on_released=on_released)


def _work_beside_others(
    database: Database, jobs: JobsSettings, notifier: Notifier, stop: threading.Event
) -> None:
    try:
        _work(database, jobs, notifier, stop)
    except SchemaMismatch as error:
        # Pages report it too, and this process is not the worker's to end.
        log.warning("worker_stopped", error=str(error))


def end_process(lost: Lost) -> None:
    """End a worker whose lease cannot be kept: its thread may hang forever in a dead socket."""
    lease = lost.lease
    log.error("lease_lost", work=lease.work_id, task=lease.task, reason=lost.reason)
    os._exit(LEASE_LOST_EXIT_CODE)


@contextmanager
def _ended_in_time(stop: threading.Event, seconds: float) -> Iterator[None]:
    """End the process `seconds` after `stop`, wherever it hangs, unless the block has ended."""
    ended = threading.Event()

    def watch() -> None:
        stop.wait()
        if not ended.wait(seconds):
            log.error("stopped_without_an_end")
            os._exit(LEASE_LOST_EXIT_CODE)

    threading.Thread(target=watch, name="stop", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
