"""Getting the evaluation of a run: stored, computed on the spot, or waited for."""

from __future__ import annotations

import time

from offdiag.domain.runs import RunState
from offdiag.errors import EvaluationFailed, EvaluationPending
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.evaluation.inputs import require_closed
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_job
from offdiag.services.jobs.submit import evaluation_key, submit_evaluation
from offdiag.store import evaluations, jobs, runs
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.outdated import stale_runs

_LOOK_EVERY_S = 0.05


def evaluation_of(
    database: Database, run_id: str, *, timeout_s: float, lease_s: float, policy: RetryPolicy
) -> StoredEvaluation:
    """The evaluation of a run with the truth and the suite that count now.

    Where there is none yet it is computed here on SQLite, unless a worker is at it already; on
    a team database a worker is waited for. Raises `NotFound`, `Conflict` for a run that is
    still open, `EvaluationFailed` with the error of the worker, and `EvaluationPending` when
    time is up.
    """
    give_up_at = time.monotonic() + timeout_s
    while True:
        stored = _stored(database, run_id)
        if stored is not None:
            return stored
        _submit_unless_queued(database, run_id)
        if database.dialect == "sqlite" and _evaluate_here(database, run_id, lease_s, policy):
            continue
        left_s = give_up_at - time.monotonic()
        if left_s <= 0:
            raise EvaluationPending(
                f"run {run_id} was not evaluated within {timeout_s:g} s.",
                field="timeout",
                hint="Start `offdiag worker`, or wait longer; nothing is lost.",
            )
        time.sleep(min(_LOOK_EVERY_S, left_s))


def stored_evaluation(database: Database, run_id: str) -> StoredEvaluation:
    """The same where it is there already; nothing is computed and nobody is waited for."""
    stored = _stored(database, run_id)
    if stored is None:
        raise EvaluationPending(
            f"run {run_id} waits for its evaluation.",
            field="run",
            hint="Ask again in a moment; a worker computes it.",
        )
    return stored


def _stored(database: Database, run_id: str) -> StoredEvaluation | None:
    with database.read() as session:
        run = runs.get_run(session, run_id)
        require_closed(run)
        pending = jobs.find_by_key(session, evaluation_key(run_id))
        if run.state is RunState.FAILED or (pending is not None and pending.error is not None):
            error = pending.error if pending is not None else None
            raise EvaluationFailed(
                f"the evaluation of run {run_id} failed: {error or 'its error was not kept'}.",
                field="run",
                hint="The predictions are safe; `offdiag doctor` shows what is waiting.",
            )
        if stale_runs(session, suite_version=SUITE_VERSION, run_ids=[run_id]):
            return None
        return evaluations.current_evaluation(session, run_id)


def _submit_unless_queued(database: Database, run_id: str) -> None:
    """See to it that there is work for the run; usually what made it stale did so already."""
    with database.read() as session:
        asked = jobs.find_by_key(session, evaluation_key(run_id)) is not None
    if not asked:
        with database.write() as session:
            submit_evaluation(session, run_id)


def _evaluate_here(database: Database, run_id: str, lease_s: float, policy: RetryPolicy) -> bool:
    with database.read() as session:
        pending = jobs.find_by_key(session, evaluation_key(run_id))
    if pending is None or pending.state != "todo":
        return False
    with LeaseKeeper(database, lease_s=lease_s) as keeper:
        run_job(database, pending.work_id, keeper, policy)
    return True
