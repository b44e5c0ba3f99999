"""Deleting a run so that nobody sees it, and bringing it back."""

from __future__ import annotations

from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.work.submit import evaluation_key, submit_evaluation
from offdiag.store import jobs, runs
from offdiag.store.database import Database
from offdiag.store.failures import after_failures
from offdiag.store.runs import RunRecord
from offdiag.store.staleness import stale_runs


def delete_run(database: Database, run_id: str, *, by: str | None) -> RunRecord:
    """Hide a run everywhere; its predictions stay until the collection removes them.

    Deleting twice is the same as once. Raises `NotFound`.
    """

    def transaction() -> RunRecord:
        with database.write() as session:
            run = runs.get_any_run(session, run_id)
            if run.deleted_at is None:
                runs.set_deleted(session, run_id, at=database.clock(), by=by)
                jobs.withdraw(session, evaluation_key(run_id))
            return runs.get_any_run(session, run_id)

    return after_failures(transaction)


def restore_run(database: Database, run_id: str) -> RunRecord:
    """Bring a deleted run back, as up to date as if it had been there all the time.

    Restoring a run that is there changes nothing. Raises `NotFound`, also when the run was
    removed for good.
    """

    def transaction() -> RunRecord:
        with database.write() as session:
            run = runs.get_any_run(session, run_id)
            if run.deleted_at is not None:
                runs.set_deleted(session, run_id, at=None, by=None)
                if stale_runs(session, suite_version=SUITE_VERSION, run_ids=[run_id]):
                    submit_evaluation(session, run_id)
            return runs.get_run(session, run_id)

    return after_failures(transaction)
