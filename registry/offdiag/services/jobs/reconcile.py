"""Reconciliation: submitting missing work, failing expired jobs. Idempotent in every process.

Editions and deliveries without work are submitted again, so lost rows cost only time.

What has to be evaluated is derived from the data, not remembered, so dropping the whole work table
costs a moment and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.services.flags.rules import rules_in_force
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.kinds import TASKS, TaskKind
from offdiag.services.jobs.submit import (
    current_notifier,
    submit_delivery,
    submit_evaluations,
    submit_report,
)
from offdiag.store import deliveries, job_lease, jobs, reports
from offdiag.store.database import Database
from offdiag.store.outdated import runs_without_flags_on_slices, stale_runs

_AT_ONCE = 200
_LONGEST_PAUSE_S = 60.0
"""Jobs that came too early are tried again sooner than this."""
_LONGEST_LEASE_S = 86_400.0
"""The maximum of the setting `jobs.lease_s`, which may be another one in each process."""


@dataclass(frozen=True, slots=True)
class Resubmitted:
    """How many editions and deliveries were pending without work."""

    editions: int
    deliveries: int


def submit_missing(database: Database) -> Resubmitted:
    """Submit work for everything that is pending without. Idempotent, safe in every process."""
    with database.read() as session:
        editions = reports.editions_without_work(session, limit=_AT_ONCE)
        parcels = deliveries.deliveries_without_work(session, limit=_AT_ONCE)
    if editions or parcels:
        with database.write() as session:
            for edition_id in editions:
                submit_report(session, edition_id)
            for delivery_id in parcels:
                submit_delivery(session, delivery_id)
    return Resubmitted(len(editions), len(parcels))


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What reconciliation found and did."""

    failed: int
    submitted: int
    waiting: int


def reconcile(
    database: Database, policy: RetryPolicy, tasks: Mapping[str, TaskKind] = TASKS
) -> Reconciled:
    """Fail jobs that ended all their workers, submit stale runs, and notify of waiting work.

    Jobs that would wait because the clock of the database was set back are due now.
    """
    longest_wait_s = max(
        _LONGEST_PAUSE_S,
        policy.delay_s(policy.max_attempts) * max(kind.delay_factor for kind in tasks.values()),
    )
    with database.write() as session:
        jobs.bring_forward(
            session, longest_wait_s=longest_wait_s, longest_lease_s=_LONGEST_LEASE_S
        )
        failed = jobs.fail_expired(session, max_attempts=policy.max_attempts)
        for lease in failed:
            if lease.task in tasks:
                tasks[lease.task].record_failure(session, lease.args, jobs.NO_ERROR_REPORTED)
        stale = stale_runs(
            session,
            rules_digest=rules_in_force().evaluated_by,
            without_job=True,
            limit=_AT_ONCE,
        )
        wanted = [run.run_id for run in stale]
        wanted += runs_without_flags_on_slices(session, limit=_AT_ONCE)
        n_submitted = submit_evaluations(session, wanted)
        waiting = job_lease.due_ids(session, max_attempts=policy.max_attempts, limit=_AT_ONCE)
        if waiting:
            current_notifier().notify(session, waiting)
    return Reconciled(len(failed), n_submitted, len(waiting))
