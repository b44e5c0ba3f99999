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
from offdiag.services.jobs.notifiers import ServingBell
from offdiag.services.jobs.run_job import perform
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag_workers.heartbeat import beating
from offdiag_workers.job_log import telling
from offdiag_workers.loop import WorkerReport
from offdiag_workers.shutdown import draining

log = structlog.get_logger()


def run_engine(
    bell: ServingBell,
    database: Database,
    jobs: JobsSettings,
    *,
    stop: threading.Event,
    on_lost: Callable[[Lost], None] | None = None,
    on_given_back: Callable[[], None] = lambda: None,
    tasks: Mapping[str, TaskKind] = TASKS,
) -> WorkerReport:
    """Perform what the engine hands over until `stop` is set.

    The engine only names work: whether it is free, how often it is tried and that its effect
    happens once is up to the work table, as in `run_worker`. Work that a lost database keeps
    from being done is rung for again by the sweep, and so is large work that comes while all
    slots but the one for small work are taken.
    """
    policy = RetryPolicy(max_attempts=jobs.max_attempts)
    outcomes: Counter[Outcome] = Counter()
    for_anything = threading.Semaphore(max(1, jobs.slots - 1))
    changed: list[SchemaMismatch] = []
    tell = telling(jobs.engine)
    with (
        beating(database, "worker"),
        LeaseKeeper(database, lease_s=jobs.lease_s, on_lost=on_lost) as keeper,
        draining(keeper, stop, drain_s=jobs.drain_s, on_given_back=on_given_back),
    ):

        def perform_one(work_id: int) -> None:
            takes_anything = for_anything.acquire(blocking=False)
            at_most = None if takes_anything else jobs.small_values
            try:
                outcome = perform(
                    database, work_id, keeper, policy, tasks, at_most=at_most, tell=tell
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

        bell.serve(database, perform_one, stop)
    if changed:
        raise changed[0]
    return WorkerReport.of(outcomes)
