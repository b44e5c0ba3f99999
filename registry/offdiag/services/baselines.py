"""The baseline of a dataset: the run that all others are compared with, class by class."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.runs import RunState
from offdiag.errors import Conflict
from offdiag.services.truth.lookup import dataset_named
from offdiag.services.work.submit import submit_evaluations
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.runs import BaselineRecord


@dataclass(frozen=True, slots=True)
class Repinned:
    """The baseline a dataset has now, and how many runs were asked to be judged again."""

    baseline: BaselineRecord | None
    n_runs: int


def pin_baseline(database: Database, run_id: str, *, author: str | None) -> Repinned:
    """Make a run the baseline of its dataset, in place of the one before.

    Doing it twice is the same as once. Raises `NotFound`, and `Conflict` for a run that is
    still open or could not be evaluated.
    """
    with database.write() as session:
        run = runs.get_run(session, run_id)
        if run.state not in (RunState.FINISHED, RunState.EVALUATED):
            raise Conflict(
                f"run {run_id} is {run.state.value}.",
                field="run",
                hint="Only a run that is complete can be a baseline.",
            )
        before = runs.find_baseline(session, run.dataset_id)
        if before is not None and before.run_id == run_id:
            return Repinned(before, 0)
        runs.pin_baseline(
            session,
            dataset_id=run.dataset_id,
            run_id=run_id,
            author=author,
            now=database.clock(),
        )
        asked = submit_evaluations(session, runs.complete_run_ids(session, run.dataset_id))
        return Repinned(runs.find_baseline(session, run.dataset_id), asked)


def unpin_baseline(database: Database, *, project: str, dataset: str) -> Repinned:
    """Let a dataset have no baseline. Raises `NotFound`."""
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        if runs.find_baseline(session, known.id) is None:
            return Repinned(None, 0)
        runs.unpin_baseline(session, known.id)
        return Repinned(
            None, submit_evaluations(session, runs.complete_run_ids(session, known.id))
        )


def unpin_run(database: Database, run_id: str) -> Repinned:
    """Let the dataset of a run have no baseline where the run is it, else leave what is pinned.

    Raises `NotFound`.
    """
    with database.write() as session:
        run = runs.get_run(session, run_id)
        before = runs.find_baseline(session, run.dataset_id)
        if before is None or before.run_id != run_id:
            return Repinned(before, 0)
        runs.unpin_baseline(session, run.dataset_id)
        return Repinned(
            None, submit_evaluations(session, runs.complete_run_ids(session, run.dataset_id))
        )


def baseline_of(database: Database, *, project: str, dataset: str) -> BaselineRecord | None:
    """The baseline of a dataset, if one is pinned. Raises `NotFound`."""
    with database.read() as session:
        return runs.find_baseline(
            session, dataset_named(session, project=project, name=dataset).id
        )
