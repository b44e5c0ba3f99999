"""Datasets: their page, the hierarchy of their classes, their baseline, and comments on them.

The baseline is the run with which all other runs of a dataset are compared, class by class.
"""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.runs import RunState, Task
from offdiag.domain.texts import require_reason
from offdiag.errors import Conflict
from offdiag.services.jobs.submit import submit_evaluations
from offdiag.services.small_groups import without_hidden
from offdiag.store import datasets, runs
from offdiag.store.comments import About, add_comments
from offdiag.store.database import Database, Session
from offdiag.store.dataset_page import (
    DatasetFacts,
    DatasetRuns,
    SliceFacts,
    dataset_list,
    dataset_runs,
    dataset_slices,
)
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.run_costs import RatedRun, positive_class, rated_runs
from offdiag.store.runs import BaselineRecord
from offdiag.store.truths import TruthSummary, truth_list


def hierarchy_of(database: Database, *, project: str, dataset: str) -> Hierarchy | None:
    """The class hierarchy of a dataset, None if it has none. Raises `NotFound`."""
    with database.read() as session:
        return dataset_named(session, project=project, name=dataset).hierarchy


def set_hierarchy(
    database: Database, *, project: str, dataset: str, given: object | None
) -> Hierarchy | None:
    """Replace the class hierarchy of a dataset; None removes it.

    Results do not change: a hierarchy is a way to look at them. Raises `NotFound`, and
    `InvalidInput` for what is not a hierarchy over its classes.
    """
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        hierarchy = None if given is None else Hierarchy.declared(given, known.labels)
        datasets.set_hierarchy(session, known.id, hierarchy)
        return hierarchy


@dataclass(frozen=True, slots=True)
class Repinned:
    """The baseline a dataset has now, and how many runs were submitted to be judged again."""

    baseline: BaselineRecord | None
    n_runs: int


def pin_baseline(database: Database, run_id: str, *, author: str | None) -> Repinned:
    """Make a run the baseline of its dataset, replacing the previous one.

    Doing it twice has the same effect as once. Raises `NotFound`, and `Conflict` for a run that is
    still open or could not be evaluated.
    """
    with database.write() as session:
        run = runs.get_run(session, run_id)
        if run.state not in (RunState.FINISHED, RunState.EVALUATED):
            raise Conflict(
                f"run {run_id} is {run.state.value}.",
                field="run",
                hint="Choose a complete run as the baseline.",
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
    """Remove the baseline of a dataset. Raises `NotFound`."""
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        pinned = runs.find_baseline(session, known.id)
        return Repinned(None, 0) if pinned is None else _unpinned(session, known.id)


def unpin_run(database: Database, run_id: str) -> Repinned:
    """Remove the baseline of the run's dataset if the run is it; otherwise change nothing.

    Raises `NotFound`.
    """
    with database.write() as session:
        run = runs.get_run(session, run_id)
        before = runs.find_baseline(session, run.dataset_id)
        if before is None or before.run_id != run_id:
            return Repinned(before, 0)
        return _unpinned(session, run.dataset_id)


def _unpinned(session: Session, dataset_id: int) -> Repinned:
    runs.unpin_baseline(session, dataset_id)
    return Repinned(None, submit_evaluations(session, runs.complete_run_ids(session, dataset_id)))


def baseline_of(database: Database, *, project: str, dataset: str) -> BaselineRecord | None:
    """The baseline of a dataset, if one is pinned. Raises `NotFound`."""
    with database.read() as session:
        return runs.find_baseline(
            session, dataset_named(session, project=project, name=dataset).id
        )


@dataclass(frozen=True)
class DatasetDetail:
    """A dataset with all its label versions, newest first, its runs and its slices."""

    dataset: DatasetRecord
    versions: tuple[TruthSummary, ...]
    runs: DatasetRuns
    slices: tuple[SliceFacts, ...]


def browse_dataset(database: Database, *, project: str, dataset: str) -> DatasetDetail:
    """Everything the page of a dataset shows. Raises `NotFound`."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        return DatasetDetail(
            known,
            truth_list(session, known.id),
            dataset_runs(session, known.id),
            without_hidden(session, known.id, dataset_slices(session, known.id)),
        )


RUNS_ON_A_MAP = 26
"""Most runs on a map: each is labelled with a letter."""


@dataclass(frozen=True, slots=True)
class MappedRuns:
    """Datasets of two classes, the selected one, and its newest runs.

    `positive_class` is the code of the class whose recall is shown; `positive_share` its share in
    the newest ground truth, None while there is none.
    """

    datasets: tuple[DatasetFacts, ...]
    dataset: DatasetFacts | None = None
    positive_class: int = 1
    positive_label: str = ""
    positive_share: float | None = None
    runs: tuple[RatedRun, ...] = ()


def browse_mapped_runs(database: Database, dataset_id: int | None) -> MappedRuns:
    """The runs of a dataset of two classes; no runs if `dataset_id` is None."""
    with database.read() as session:
        binary = tuple(each for each in dataset_list(session) if each.task is Task.BINARY)
        dataset = next((each for each in binary if each.id == dataset_id), None)
        if dataset is None:
            return MappedRuns(binary)
        code, label = positive_class(session, dataset.id)
        return MappedRuns(
            binary,
            dataset,
            code,
            label,
            _share(dataset.class_counts, code),
            tuple(rated_runs(session, dataset_id=dataset.id, limit=RUNS_ON_A_MAP)),
        )


def _share(counts: tuple[int, ...] | None, code: int) -> float | None:
    if counts is None or not 0 < counts[code] < sum(counts):
        return None
    return counts[code] / sum(counts)


def comment_on_dataset(
    database: Database, *, project: str, dataset: str, text: str, author: str | None
) -> None:
    """Add a comment to a dataset. Raises like `comment_on_run`."""
    remark = require_reason(text, field="comment")
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        add_comments(
            session, About.DATASET, [known.id], text=remark, author=author, now=database.clock()
        )
