"""A worker whose work is handed to it by an engine, piece by piece."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping

import structlog

from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.services.jobs.attempts import Outcome, RetryPolicy
from offdiag.services.jobs.kinds import TASKS, TaskKind
from offdiag.services.jobs.leases import LeaseKeeper, Lost
from offdiag.services.jobs.notifiers import ServingNotifier
from offdiag.services.jobs.run_job import run_job
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag_workers.heartbeat import beating
from offdiag_workers.job_log import attempt_logger
from offdiag_workers.loop import WorkerReport
from offdiag_workers.shutdown import draining

log = structlog.get_logger()


def run_engine(
    notifier: ServingNotifier,
    database: Database,
    jobs: JobsSettings,
    *,
    stop: threading.Event,
    on_lost: Callable[[Lost], None] | None = None,
    on_released: Callable[[], None] = lambda: None,
    tasks: Mapping[str, TaskKind] = TASKS,
) -> WorkerReport:
    """Perform what the engine hands over until `stop` is set.

    The engine only names work: whether it is free, how often it is tried and that its effect
    happens once is up to the work table, as in `run_worker`. Work that a lost database keeps
    from being done is notified again by reconciliation, and so is large work that comes while all
    slots but the one for small work are taken.
    """
    policy = RetryPolicy(max_attempts=jobs.max_attempts)
    outcomes: Counter[Outcome] = Counter()
    for_anything = threading.Semaphore(max(1, jobs.slots - 1))
    changed: list[SchemaMismatch] = []
    on_ended = attempt_logger(jobs.engine)
    with (
        beating(database, "worker"),
        LeaseKeeper(database, lease_s=jobs.lease_s, on_lost=on_lost) as keeper,
        draining(keeper, stop, drain_s=jobs.drain_s, on_released=on_released),
    ):

        def run_one(work_id: int) -> None:
            takes_anything = for_anything.acquire(blocking=False)
            at_most = None if takes_anything else jobs.small_values
            try:
                outcome = run_job(
                    database, work_id, keeper, policy, tasks, at_most=at_most, on_ended=on_ended
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
