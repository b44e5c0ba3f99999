"""The worker: does due work, one piece after the other, until it is told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from offdiag.errors import DatabaseUnavailable
from offdiag.services.work.bell import LOCAL_BELL
from offdiag.services.work.leases import LeaseKeeper
from offdiag.services.work.perform import Outcome, RetryPolicy, perform_next
from offdiag.services.work.tasks import TASKS, TaskKind
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag.store.work import Lease
from offdiag_workers.heartbeat import beating
from offdiag_workers.listener import listening

log = structlog.get_logger()

_DATABASE_RETRY_S = 1.0
_STOP_LOOK_S = 0.2
"""How long a stop may go unnoticed while the loop waits for the bell."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What one worker did from start to stop."""

    done: int
    failed: int


def run_worker(
    database: Database,
    jobs: JobsSettings,
    *,
    stop: threading.Event,
    on_lost: Callable[[Lease], None] | None = None,
    until_idle: bool = False,
    tasks: Mapping[str, TaskKind] = TASKS,
) -> WorkerReport:
    """Work until `stop` is set, or until nothing is due if `until_idle`.

    A piece of work that was begun is ended before the loop returns. An unreachable database
    is waited for. `on_lost` is called from another thread when a lease can no longer be kept.
    """
    policy = RetryPolicy(max_attempts=jobs.max_attempts)
    done = failed = heard = 0
    with (
        beating(database, "worker"),
        listening(database, stop),
        LeaseKeeper(database, lease_s=jobs.lease_s, on_lost=on_lost) as keeper,
    ):
        while not stop.is_set():
            try:
                outcome = perform_next(database, keeper, policy, tasks)
            except DatabaseUnavailable as error:
                log.warning("database_unavailable", error=str(error))
                stop.wait(_DATABASE_RETRY_S)
                continue
            if outcome is None:
                if until_idle:
                    break
                heard = _wait_for_bell(heard, stop, timeout_s=_idle_wait_s(database, jobs))
            elif outcome is Outcome.DONE:
                done += 1
            elif outcome not in {Outcome.TAKEN, Outcome.PUT_OFF}:
                failed += 1
                log.warning("work_failed", outcome=outcome.value)
    return WorkerReport(done, failed)


def _wait_for_bell(heard: int, stop: threading.Event, *, timeout_s: float) -> int:
    give_up_at = time.monotonic() + timeout_s
    rung = heard
    while rung == heard and not stop.is_set():
        left_s = give_up_at - time.monotonic()
        if left_s <= 0:
            break
        rung = LOCAL_BELL.wait(heard, min(left_s, _STOP_LOOK_S))
    return rung


def _idle_wait_s(database: Database, jobs: JobsSettings) -> float:
    # SQLite tells nobody about commits of other processes, so it is asked often; PostgreSQL
    # notifies, and is asked now and then in case a notification got lost.
    return jobs.poll_ms / 1000 if database.dialect == "sqlite" else max(1.0, jobs.poll_ms / 1000)
