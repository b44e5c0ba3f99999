"""Evaluating waiting runs in this process, so that no worker has to be started first.

The evaluation code is imported only if runs are waiting, so that lists are otherwise shown sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from offdiag.metrics.custom import custom_suffix
from offdiag.settings.model import JobsSettings
from offdiag.store import jobs
from offdiag.store.database import Database
from offdiag.store.outdated import runs_without_flags_on_slices, stale_runs

if TYPE_CHECKING:
    from offdiag.services.jobs.attempts import Outcome
    from offdiag.services.jobs.leases import LeaseKeeper

MOST_AT_ONCE = 20
"""Most runs that are evaluated before a list is shown; of more, only the number is reported."""
_MOST_COUNTED = 10_000

Step = Callable[[int, int], None]
"""Is called with the number of runs done, and of how many."""


@dataclass(frozen=True, slots=True)
class PendingReport:
    """How many runs were evaluated, and how many remain: failed, or being done by a worker."""

    n_evaluated: int
    n_left: int


def evaluate_few(database: Database, settings: JobsSettings, on_step: Step) -> PendingReport:
    """Evaluate the waiting runs, if the database is embedded and there are few enough.

    More than `MOST_AT_ONCE` runs would take long: then nothing is done, and all of them remain. On
    a team database workers evaluate, and waiting runs are not even counted.
    """
    if database.dialect != "sqlite":
        return PendingReport(0, 0)
    waiting = _waiting(database, limit=_MOST_COUNTED)
    if len(waiting) > MOST_AT_ONCE:
        return PendingReport(0, len(waiting))
    return _evaluate(database, waiting, settings, on_step)


def evaluate_pending(database: Database, settings: JobsSettings, on_step: Step) -> PendingReport:
    """Evaluate all waiting runs, one after another, oldest first."""
    return _evaluate(database, _waiting(database), settings, on_step)


def _waiting(database: Database, limit: int | None = None) -> list[str]:
    """Runs whose results are stale, and those that wait for flags on added slice columns."""
    with database.read() as session:
        stale = stale_runs(session, metrics_suffix=custom_suffix(), limit=limit)
        unflagged = runs_without_flags_on_slices(session, limit=limit)
        queued = jobs.queued_evaluations(session)
    return list(dict.fromkeys((*(run.run_id for run in stale), *unflagged, *queued)))


def _evaluate(
    database: Database, run_ids: list[str], settings: JobsSettings, on_step: Step
) -> PendingReport:
    if not run_ids:
        return PendingReport(0, 0)
    from offdiag.services.jobs.leases import LeaseKeeper
    from offdiag.services.jobs.submit import submit_evaluations

    with database.write() as session:
        submit_evaluations(session, run_ids)
    n_evaluated = 0
    on_step(0, len(run_ids))
    with LeaseKeeper(database, lease_s=settings.lease_s) as keeper:
        for done, run_id in enumerate(run_ids, start=1):
            n_evaluated += _evaluate_one(database, run_id, keeper, settings)
            on_step(done, len(run_ids))
    return PendingReport(n_evaluated, len(run_ids) - n_evaluated)


def _evaluate_one(
    database: Database, run_id: str, keeper: LeaseKeeper, settings: JobsSettings
) -> bool:
    from offdiag.services.jobs.attempts import Outcome, RetryPolicy
    from offdiag.services.jobs.run_job import run_job
    from offdiag.services.jobs.submit import evaluation_key

    with database.read() as session:
        job = jobs.find_by_key(session, evaluation_key(run_id))
    if job is None:
        return True  # A worker was faster.
    policy = RetryPolicy(max_attempts=settings.max_attempts)
    return job.state == "todo" and run_job(database, job.work_id, keeper, policy) is Outcome.DONE


def work_until_idle(database: Database, settings: JobsSettings) -> Iterator[tuple[Outcome, int]]:
    """Run all jobs that are due, evaluations, reports and deliveries, then stop.

    Yields the outcome of each attempt and how many jobs are still queued. Failed jobs that are to
    be tried again later remain.
    """
    from offdiag.services.jobs.attempts import RetryPolicy
    from offdiag.services.jobs.leases import LeaseKeeper
    from offdiag.services.jobs.reconcile import reconcile, submit_missing
    from offdiag.services.jobs.run_job import run_due_jobs

    policy = RetryPolicy(max_attempts=settings.max_attempts)
    with LeaseKeeper(database, lease_s=settings.lease_s) as keeper:
        is_idle = False
        while not is_idle:
            is_idle = True
            # Each round submits only a limited number of evaluations.
            submit_missing(database)
            reconcile(database, policy)
            for outcome in run_due_jobs(database, keeper, policy, goes_on=lambda: True):
                is_idle = False
                with database.read() as session:
                    n_queued = jobs.count_by_state(session)["todo"]
                yield outcome, n_queued
