"""Getting the evaluation of a run: stored, computed immediately, or waited for."""

from __future__ import annotations

import time

from offdiag.domain.runs import RunState
from offdiag.domain.sentences import listed
from offdiag.errors import EvaluationFailed, EvaluationPending
from offdiag.metrics.custom import custom_suffix, custom_versions
from offdiag.services.evaluation.inputs import require_closed
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_job
from offdiag.services.jobs.submit import evaluation_key, submit_evaluation
from offdiag.settings import JobsSettings
from offdiag.store import evaluations, jobs, runs
from offdiag.store.database import Database, Session
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.jobs import WorkRecord
from offdiag.store.outdated import stale_runs

_LOOK_EVERY_S = 0.05


def evaluation_of(
    database: Database,
    run_id: str,
    *,
    timeout_s: float,
    settings: JobsSettings,
    needs_declared: bool = False,
) -> StoredEvaluation:
    """The evaluation of a run on the current label version, with the current metrics.

    If there is none yet, it is computed here on SQLite, unless a worker is already computing it;
    on a team database, waits for a worker. There, metrics that this process declares are current
    only with `needs_declared`. Raises `NotFound`, `Conflict` for a run that is still
    open, `EvaluationFailed` with the error of the worker, and `EvaluationPending` when time is up.
    """
    give_up_at = time.monotonic() + timeout_s
    # The workers of a team may know other declared metrics than a notebook, which would then wait.
    is_file = database.dialect == "sqlite"
    suffix = custom_suffix() if is_file or needs_declared else ""
    while True:
        with database.read() as session:
            stored, job = _stored(session, run_id, metrics_suffix=suffix)
            # Workers that know other declared metrics would evaluate it in vain.
            can_differ = stored is None and not is_file and bool(suffix)
            is_redefined = can_differ and _stored(session, run_id)[0] is not None
        # Added slice columns make no result stale, but flags on them are missing.
        if stored is not None and not (is_file and job is not None and job.state == "todo"):
            return stored
        if job is None and not is_redefined:  # Usually whatever made it stale has submitted it.
            with database.write() as session:
                submit_evaluation(session, run_id)
                job = jobs.find_by_key(session, evaluation_key(run_id))
        if database.dialect == "sqlite" and job is not None and job.state == "todo":
            policy = RetryPolicy(max_attempts=settings.max_attempts)
            with LeaseKeeper(database, lease_s=settings.lease_s) as keeper:
                run_job(database, job.work_id, keeper, policy)
            continue
        left_s = give_up_at - time.monotonic()
        if left_s <= 0:
            raise _pending(run_id, timeout_s, is_redefined=is_redefined)
        time.sleep(min(_LOOK_EVERY_S, left_s))


def _pending(run_id: str, timeout_s: float, *, is_redefined: bool) -> EvaluationPending:
    """The error when time is up; `is_redefined` if the results lack the declared metrics only."""
    late = f"run {run_id} was not evaluated within {timeout_s:g} s"
    if not is_redefined:
        return EvaluationPending(
            f"{late}.",
            field="timeout",
            hint="Start `offdiag worker`, or wait longer; nothing is lost.",
        )
    declared = (f"{key} version {version}" for key, version in custom_versions().items())
    return EvaluationPending(
        f"{late} with the declared metrics of this process, {listed(tuple(declared))}.",
        field="timeout",
        hint="The workers must declare the same metrics in the same versions, and no others: "
        "install the modules of this process where they run, and restart them.",
    )


def stored_evaluation(database: Database, run_id: str) -> StoredEvaluation:
    """The evaluation of a run if it is stored; else raises `EvaluationPending` at once."""
    with database.read() as session:
        stored, _ = _stored(session, run_id)
    if stored is None:
        raise EvaluationPending(
            f"run {run_id} waits for its evaluation.",
            field="run",
            hint="Ask again in a moment; a worker computes it.",
        )
    return stored


def _stored(
    session: Session, run_id: str, *, metrics_suffix: str = ""
) -> tuple[StoredEvaluation | None, WorkRecord | None]:
    """The evaluation of a run, None while it is stale, and the job for it, if there is one.

    With the suffix of the declared metrics, results of other versions of them are stale.
    """
    run = runs.get_run(session, run_id)
    require_closed(run)
    job = jobs.find_by_key(session, evaluation_key(run_id))
    if run.state is RunState.FAILED or (job is not None and job.error is not None):
        error = None if job is None else job.error
        raise EvaluationFailed(
            f"the evaluation of run {run_id} failed: {error or 'its error was not kept'}.",
            field="run",
            hint="The predictions are safe; `offdiag doctor` shows what is waiting.",
        )
    if stale_runs(session, metrics_suffix=metrics_suffix, run_ids=[run_id]):
        return None, job
    return evaluations.current_evaluation(session, run_id), job
