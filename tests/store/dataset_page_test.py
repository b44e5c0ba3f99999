"""What the pages of a dataset read, on both databases."""

from __future__ import annotations

from offdiag.domain.runs import RunState
from offdiag.services.datasets import browse_dataset
from offdiag.services.retention.deletion import delete_run
from offdiag.services.truth.impact import truth_impact
from offdiag.store.database import Database
from offdiag.store.dataset_page import models_by_first_run
from offdiag.store.models import DatasetRow
from offdiag.store.project_access import projects_with_dataset
from support.dashboard import log_counts, log_lesions, open_lesions
from support.logging_runs import work_off
from support.reads import read
from support.revised import CORRECTED, TRUTH, log_pets, revise


def test_runs_of_a_dataset_are_counted_by_state(database: Database) -> None:
    log_lesions(database)
    log_lesions(database, evaluated=False)
    open_lesions(database)

    runs = browse_dataset(database, project="default", dataset="derm-7").runs

    assert runs.total == 3
    assert runs.by_state == {
        RunState.OPEN: 1,
        RunState.FINISHED: 1,
        RunState.EVALUATED: 1,
        RunState.FAILED: 0,
    }
    assert runs.n_behind == 0


def test_projects_that_share_a_name_are_found(database: Database) -> None:
    for project in ("b", "a"):
        log_pets(database, TRUTH, name="run", project=project)

    assert read(database, projects_with_dataset, "pets") == {"a", "b"}
    assert read(database, projects_with_dataset, "dogs") == frozenset()


def test_an_impact_holds_both_sides_of_each_run_that_moved(database: Database) -> None:
    run_id = log_pets(database, TRUTH, name="old")
    work_off(database)
    revise(database, CORRECTED)
    behind = browse_dataset(database, project="default", dataset="pets").runs.n_behind
    new = log_pets(database, TRUTH, name="new")
    work_off(database)

    impact = truth_impact(database, project="default", dataset="pets", number=2)

    (moved,) = impact.moved
    assert (moved.run.id, moved.run.name) == (run_id, "old")
    assert moved.before.metrics["overall_accuracy"].value == 1.0
    assert moved.after.metrics["overall_accuracy"].value == 50 / 60
    assert (moved.before.truth_number, moved.after.truth_number) == (1, 2)
    assert impact.difference is not None
    assert len(impact.difference) == 10
    assert [run.id for run in impact.new] == [new]
    assert behind == 1
    assert browse_dataset(database, project="default", dataset="pets").runs.n_behind == 0


def test_models_stand_in_the_order_of_their_first_runs(database: Database) -> None:
    counts = ((2, 1), (1, 2))
    ids = [
        log_counts(database, counts, ("a", "b"), name=f"run {at}", evaluated=False, model=model)
        for at, model in enumerate(["z", None, "a", "z", "m"])
    ]
    delete_run(database, ids[4], by=None)

    with database.read() as session:
        dataset_id = session.query(DatasetRow.id).scalar()
        assert models_by_first_run(session, [dataset_id]) == {dataset_id: ("z", None, "a")}
        assert models_by_first_run(session, []) == {}
