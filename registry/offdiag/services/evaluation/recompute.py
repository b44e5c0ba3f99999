"""Recomputing results: those that are stale, those of some runs, or all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.domain.runs import RunState, StaleReason
from offdiag.errors import Conflict
from offdiag.services.flags.rules import rules_in_force
from offdiag.services.jobs.submit import evaluation_key, submit_evaluations
from offdiag.store import jobs, retention, runs
from offdiag.store.database import Database, Session
from offdiag.store.outdated import StaleRun, stale_runs

_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class RecomputeRequest:
    """Runs submitted for evaluation, and how many of them were not already waiting."""

    runs: tuple[StaleRun, ...]
    n_submitted: int


def recompute_stale(database: Database) -> RecomputeRequest:
    """Submit exactly the runs whose results are stale."""
    digest = rules_in_force().evaluated_by
    with database.write() as session:
        stale = stale_runs(session, rules_digest=digest)
        return _asked(session, stale)


def recompute_all(database: Database) -> RecomputeRequest:
    """Drop all current results, and queue the runs to be computed again from the predictions.

    Superseded results remain: they say what was known at the time. Until the work is done the runs
    have no results. Runs whose evaluation failed for good are tried again. Each transaction is
    short, so that workers can begin in between.
    """
    with database.read() as session:
        complete = retention.complete_runs(session)
    found: list[StaleRun] = []
    n_submitted = 0
    for start in range(0, len(complete), _AT_ONCE):
        with database.write() as session:
            asked = _drop_and_ask(session, complete[start : start + _AT_ONCE])
        found += asked.runs
        n_submitted += asked.n_submitted
    return RecomputeRequest(tuple(found), n_submitted)


def recompute_runs(database: Database, run_ids: Sequence[str]) -> RecomputeRequest:
    """Drop the results of some runs, and queue them to be computed again from the predictions.

    Raises `NotFound` for an unknown run and `Conflict` for one that is still open; then nothing is
    dropped.
    """
    with database.write() as session:
        for run_id in run_ids:
            if runs.get_run(session, run_id).state is RunState.OPEN:
                raise Conflict(
                    f"run {run_id} is still open.",
                    field="run",
                    hint="There is nothing to evaluate before it is finished.",
                )
        return _drop_and_ask(session, run_ids)


def retry_failed(database: Database, run_id: str) -> None:
    """Submit a run again whose evaluation failed for the last time. Raises `NotFound`."""
    with database.write() as session:
        if runs.get_run(session, run_id).state is RunState.FAILED:
            _drop_and_ask(session, [run_id])


def _drop_and_ask(session: Session, run_ids: Sequence[str]) -> RecomputeRequest:
    for run_id in retention.failed_among(session, run_ids):
        jobs.withdraw(session, evaluation_key(run_id))
    retention.drop_current_results(session, run_ids)
    return _asked(session, stale_runs(session, run_ids=run_ids))


def _asked(session: Session, stale: list[StaleRun]) -> RecomputeRequest:
    submitted = submit_evaluations(session, [run.run_id for run in stale])
    return RecomputeRequest(tuple(stale), submitted)


def reason_in_words(reason: StaleReason) -> str:
    """Why the results of a run are stale, for people."""
    return _WORDS[reason]


_WORDS = {
    StaleReason.NOT_EVALUATED: "not evaluated yet",
    StaleReason.TRUTH_REVISED: "ground truth was corrected",
    StaleReason.SUITE_CHANGED: "metrics have a new version",
    StaleReason.RULES_CHANGED: "rules, thresholds or declared metrics have changed",
    StaleReason.COSTS_CHANGED: "costs have changed",
    StaleReason.BASELINE_CHANGED: "another baseline",
    StaleReason.CURVES_MISSING: "curves of its scores are missing",
}
