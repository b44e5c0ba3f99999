"""A worker whose work is handed to it by an engine, piece by piece."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping

import structlog

from offdiag.errors import DatabaseUnavailable
from offdiag.services.work.bell import ServingBell
from offdiag.services.work.leases import LeaseKeeper
from offdiag.services.work.perform import Outcome, RetryPolicy, perform
from offdiag.services.work.tasks import TASKS, TaskKind
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag.store.work import Lease
from offdiag_workers.heartbeat import beating
from offdiag_workers.loop import WorkerReport

log = structlog.get_logger()


def run_engine(
    bell: ServingBell,
    database: Database,
    jobs: JobsSettings,
    *,
    stop: threading.Event,
    on_lost: Callable[[Lease], None] | None = None,
    tasks: Mapping[str, TaskKind] = TASKS,
) -> WorkerReport:
    """Perform what the engine hands over until `stop` is set.

    The engine only names work: whether it is free, how often it is tried and that its effect
    happens once is up to the work table, as in `run_worker`. Work that a lost database keeps
    from being done is rung for again by the sweep.
    """
    policy = RetryPolicy(max_attempts=jobs.max_attempts)
    outcomes: Counter[Outcome] = Counter()
    with (
        beating(database, "worker"),
        LeaseKeeper(database, lease_s=jobs.lease_s, on_lost=on_lost) as keeper,
    ):

        def perform_one(work_id: int) -> None:
            try:
                outcome = perform(database, work_id, keeper, policy, tasks)
            except DatabaseUnavailable as error:
                log.warning("database_unavailable", error=str(error), work=work_id)
                return
            outcomes[outcome] += 1
            if outcome in {Outcome.GIVEN_BACK, Outcome.BURIED, Outcome.LOST}:
                log.warning("work_failed", outcome=outcome.value, work=work_id)

        bell.serve(database, perform_one, stop)
    failed = outcomes[Outcome.GIVEN_BACK] + outcomes[Outcome.BURIED] + outcomes[Outcome.LOST]
    return WorkerReport(outcomes[Outcome.DONE], failed)
