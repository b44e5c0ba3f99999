"""Deleting and restoring runs, and permanently removing old data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from offdiag.services.idempotency import KEPT_FOR
from offdiag.services.jobs.submit import evaluation_key, submit_evaluation
from offdiag.store import jobs, retention, runs
from offdiag.store.database import Database, Session
from offdiag.store.idempotency import remove_responses
from offdiag.store.outdated import stale_runs
from offdiag.store.retries import in_transaction
from offdiag.store.runs import RunRecord


def delete_run(database: Database, run_id: str, *, by: str | None) -> RunRecord:
    """Hide a run everywhere; its predictions remain until `collect` removes them.

    Deleting twice has the same effect as once. Raises `NotFound`.
    """

    def transaction(session: Session) -> RunRecord:
        run = runs.get_any_run(session, run_id)
        if run.deleted_at is None:
            runs.set_deleted(session, run_id, at=database.clock(), by=by)
            jobs.withdraw(session, evaluation_key(run_id))
        return runs.get_any_run(session, run_id)

    return in_transaction(database, transaction)


def restore_run(database: Database, run_id: str) -> RunRecord:
    """Restore a deleted run, as up to date as if it had never been deleted.

    Restoring a run that is not deleted changes nothing. Raises `NotFound`, also if the run was
    removed for good.
    """

    def transaction(session: Session) -> RunRecord:
        run = runs.get_any_run(session, run_id)
        if run.deleted_at is not None:
            runs.set_deleted(session, run_id, at=None, by=None)
            if stale_runs(session, run_ids=[run_id]):
                submit_evaluation(session, run_id)
        return runs.get_run(session, run_id)

    return in_transaction(database, transaction)


_RUNS_AT_ONCE = 20
_EVALUATIONS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Collected:
    """How much was removed."""

    deleted_runs: int
    open_runs: int
    evaluations: int
    answers: int = 0


def collect(
    database: Database,
    *,
    older_than: timedelta,
    keep: int,
    open_older_than: timedelta | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Collected:
    """Remove runs deleted longer ago than `older_than`, superseded evaluations, and old answers.

    The newest `keep` superseded evaluations of each run and slice remain, for its history and for
    reports on corrections of the truth. Runs that were opened longer ago than `open_older_than`
    and never finished are removed only if that is given: a training job may take its time.

    Each transaction is short, so that others can write in between; before each, `is_stopped` is
    called, and one that conflicts with others is retried. What an interrupted call leaves behind
    is removed by the next one.
    """
    now = database.clock()

    def remove_runs(
        find: Callable[[Session, datetime, int], Sequence[str]], age: timedelta, session: Session
    ) -> int:
        run_ids = find(session, now - age, _RUNS_AT_ONCE)
        retention.remove_runs(session, run_ids)
        return len(run_ids)

    def superseded(session: Session) -> int:
        found = retention.superseded_evaluations(session, keep, _EVALUATIONS_AT_ONCE)
        retention.remove_evaluations(session, found)
        return len(found)

    in_portions = partial(_in_portions, database, is_stopped)
    return Collected(
        deleted_runs=in_portions(
            partial(remove_runs, retention.runs_deleted_before, older_than), _RUNS_AT_ONCE
        ),
        open_runs=0
        if open_older_than is None
        else in_portions(
            partial(remove_runs, retention.runs_open_since_before, open_older_than), _RUNS_AT_ONCE
        ),
        evaluations=in_portions(superseded, _EVALUATIONS_AT_ONCE),
        answers=in_transaction(
            database, lambda session: remove_responses(session, before=now - KEPT_FOR)
        ),
    )


def _in_portions(
    database: Database,
    is_stopped: Callable[[], bool],
    remove: Callable[[Session], int],
    most: int,
) -> int:
    """How much was removed in total by transactions that each remove at most `most`."""
    removed = 0
    while not is_stopped():
        portion = in_transaction(database, remove)
        removed += portion
        if portion < most:
            break
    return removed
