"""A project moves with everything of it, is recognised where it is known, and adds the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select

from offdiag.domain.runs import RunFacts, RunState
from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.reports.scope import ReportScope
from offdiag.services.cost_matrices import find_costs, set_default_costs
from offdiag.services.datasets import baseline_of, hierarchy_of, pin_baseline, set_hierarchy
from offdiag.services.jobs.reconcile import submit_missing
from offdiag.services.reports.edition import report_now
from offdiag.services.retention.deletion import delete_run
from offdiag.services.retention.project_archives import (
    delete_exported,
    export_project,
    import_project,
)
from offdiag.services.run_notes import change_run
from offdiag.services.schedules.edit import add_schedule, resume_schedule
from offdiag.services.truth.versions import truth_history
from offdiag.services.verification.verify import verify
from offdiag.store.archive.project import LEFT_OUT, rows_of_project
from offdiag.store.database import Database
from offdiag.store.models import (
    Base,
    CommentRow,
    FlagEventRow,
    ProjectRow,
    ReportEditionRow,
    ReportFileRow,
    RunRow,
    ScheduleRow,
    TruthSliceRow,
    TruthVersionRow,
    WorkRow,
)
from offdiag.store.reports import EditionState
from support.archives import IDS, Filled, Registry, add_visits, count_of, flags_of, revise, run_ids
from support.contents import contents
from support.logging_runs import evaluate, log, opened, work_off


@pytest.mark.both_databases
def test_a_project_moves_with_all_its_results_and_what_people_made_of_them(
    registry: Registry, other: Database, tmp_path: Path
) -> None:
    source, runs = registry.database, registry.filled.runs
    log(other, dataset="was here before")  # So that ids differ.
    work_off(other)
    n_events = count_of(other, FlagEventRow)

    written = export_project(source, "default", tmp_path / "project.zip")
    taken = import_project(other, tmp_path / "project.zip")

    # Before the pending report of the source is made.
    assert count_of(other, ReportFileRow) == 4
    assert contents(other)["report_file"] == contents(source)["report_file"]
    assert written.rows_by_table["run"] == 5
    assert sorted(taken.new_runs) == registry.filled.run_ids
    for run_id in registry.filled.run_ids:
        there, here = evaluate(source, run_id), evaluate(other, run_id)
        assert here.matrix.counts.tolist() == there.matrix.counts.tolist()
        assert (here.aggregate, here.per_class) == (there.aggregate, there.per_class)
        assert (here.costs, here.hides_minority) == (there.costs, there.hides_minority)
        assert flags_of(other, run_id) == flags_of(source, run_id)
    found = verify(other)
    assert found.is_clean
    assert found.n_waiting == 0
    assert count_of(other, WorkRow) == 0
    with other.read() as session:
        assert session.scalars(select(ProjectRow.name)).all() == ["default"]
    assert ("dismissed", "known") in flags_of(other, runs["scored"]).values()
    assert taken.added["flag_event"] == count_of(other, FlagEventRow) - n_events > 0
    assert comments_and_notes(other) == comments_and_notes(source)
    assert taken.added["comment"] == 3
    baseline = baseline_of(other, project="default", dataset="scored")
    assert baseline is not None
    assert (baseline.run_id, baseline.author) == (runs["better"], "ada")
    newest = find_costs(other, project="default", wanted=CostName("visits"))
    assert (newest.version, newest.costs.weights.tolist()) == (2, [[0.0, 1.0], [9.0, 0.0]])
    assert taken.added["cost_matrix"] == 2


def comments_and_notes(database: Database) -> list[tuple[object, ...]]:
    with database.read() as session:
        notes = session.execute(select(RunRow.id, RunRow.note).where(RunRow.note.is_not(None)))
        comments = session.execute(
            select(CommentRow.run_id, CommentRow.at, CommentRow.author, CommentRow.text)
        )
        return sorted((tuple(row) for row in [*notes, *comments]), key=repr)


def leave_nothing_undone(database: Database) -> None:
    """Delete the open run and the report that is still to be made."""
    with database.read() as session:
        is_open = select(RunRow.id).where(RunRow.state == RunState.OPEN)
        open_runs = session.scalars(is_open).all()
    for run_id in open_runs:
        delete_run(database, run_id, by=None)
    with database.write() as session:
        is_pending = ReportEditionRow.state == EditionState.PENDING
        session.execute(delete(ReportEditionRow).where(is_pending))


@pytest.mark.both_databases
def test_an_exported_project_is_deleted_and_comes_back(registry: Registry, tmp_path: Path) -> None:
    database, file = registry.database, tmp_path / "project.zip"
    leave_nothing_undone(database)
    before = {run_id: evaluate(database, run_id) for run_id in registry.filled.run_ids}
    other = log(database, facts=RunFacts(name="run", project="another")).id
    exported = export_project(database, "default", file)

    delete_exported(database, "default", exported)

    with database.read() as session:
        assert not set(session.scalars(select(RunRow.id))) & before.keys()
        assert session.get(RunRow, other) is not None
        assert "default" not in session.scalars(select(ProjectRow.name)).all()
    assert verify(database).is_clean
    import_project(database, file)
    for run_id, evaluation in before.items():
        assert evaluate(database, run_id).aggregate == evaluation.aggregate
    assert verify(database).is_clean


def test_a_project_that_changed_or_is_at_work_is_not_deleted(
    registry: Registry, tmp_path: Path
) -> None:
    database = registry.database
    leave_nothing_undone(database)
    n_runs = count_of(database, RunRow)
    exported = export_project(database, "default", tmp_path / "project.zip")
    log(database, facts=RunFacts(name="logged meanwhile"))
    work_off(database)

    with pytest.raises(Conflict, match="has changed since it was exported"):
        delete_exported(database, "default", exported)

    again = export_project(database, "default", tmp_path / "again.zip")
    opened(database)
    with pytest.raises(Conflict, match="open runs"):
        delete_exported(database, "default", again)
    with pytest.raises(NotFound):
        delete_exported(database, "gone", again)
    assert count_of(database, RunRow) == n_runs + 2


@pytest.mark.both_databases
def test_a_project_of_which_a_value_changed_is_not_deleted(
    registry: Registry, tmp_path: Path
) -> None:
    database = registry.database
    leave_nothing_undone(database)
    exported = export_project(database, "default", tmp_path / "project.zip")
    change_run(database, registry.filled.run_ids[0], note="Written meanwhile.")
    n_runs = count_of(database, RunRow)

    with pytest.raises(Conflict, match="has changed since it was exported"):
        delete_exported(database, "default", exported)

    assert count_of(database, RunRow) == n_runs


def test_schedules_come_paused_and_nothing_is_sent_or_made_twice(
    filled_sqlite: Registry, other: Database, archive: Path
) -> None:
    taken = import_project(other, archive)

    assert taken.paused == ("weekly",)
    with other.read() as session:
        (schedule,) = session.scalars(select(ScheduleRow)).all()
        assert (schedule.enabled, schedule.next_due, schedule.cron) == (False, None, "0 6 * * 1")
        # The pending report stays with the registry that is about to make it.
        names = session.scalars(select(ReportEditionRow.name)).all()
    assert names == ["audit"]
    assert submit_missing(other).editions == submit_missing(other).deliveries == 0
    resumed = resume_schedule(other, project="default", name="weekly")
    assert resumed.enabled


@pytest.mark.both_databases
def test_importing_twice_is_the_same_as_once(
    database: Database, archive: Path, exported_file: tuple[Path, Filled]
) -> None:
    first = import_project(database, archive)
    before = contents(database)
    assert run_ids(database) == exported_file[1].run_ids
    assert verify(database).is_clean

    again = import_project(database, archive)

    assert contents(database) == before
    assert (again.new_runs, again.added, again.paused) == ((), {}, ())
    assert sorted(again.known_runs) == sorted(first.new_runs)


def test_a_project_can_get_another_name(database: Database, archive: Path) -> None:
    mine = log(database, dataset="scored", y_true=["x", "y"], y_pred=["x", "y"])

    taken = import_project(database, archive, name="theirs")

    assert taken.project == "theirs"
    assert len(taken.new_runs) == 5
    work_off(database)
    assert verify(database).is_clean
    assert mine.id in run_ids(database)
    with database.read() as session:
        names = session.scalars(select(ProjectRow.name).order_by(ProjectRow.name)).all()
        (scope,) = session.scalars(select(ScheduleRow.scope)).all()
    assert names == ["default", "theirs"]
    assert scope["project"] == "theirs"
    assert import_project(database, archive, name="theirs").added == {}


def test_a_name_that_no_project_can_have_is_refused(other: Database, archive: Path) -> None:
    with pytest.raises(InvalidInput, match="control character"):
        import_project(other, archive, name="two\nlines")


def test_new_runs_and_corrections_are_added_to_what_is_there(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database, sample_ids=IDS)
    work_off(database)
    export_project(database, "default", tmp_path / "first.zip")
    import_project(other, tmp_path / "first.zip")

    revise(database, {6: "a"})
    new = log(database, y_pred=["a"] * 6, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    work_off(database)
    export_project(database, "default", tmp_path / "second.zip")
    taken = import_project(other, tmp_path / "second.zip")

    assert taken.new_runs == (new.id,)
    assert taken.added["truth_version"] == 1
    # The run that was there before is behind the truth now.
    assert verify(other).n_waiting == 1
    work_off(other)
    assert verify(other).is_clean
    assert count_of(other, TruthVersionRow) == 2
    with other.read() as session:
        assert session.scalars(select(TruthSliceRow.name)).all() == ["site"]


def test_a_correction_that_gets_another_number_is_scored_anew(
    database: Database, other: Database, tmp_path: Path
) -> None:
    # Results name the truth they were made with by its number.
    source, target = other, database
    log(target, y_true=["a", "b", "c"] * 2)
    run = log(source, sample_ids=IDS)
    revise(source, {6: "a"})
    work_off(source)
    export_project(source, "default", tmp_path / "project.zip")

    import_project(target, tmp_path / "project.zip")
    work_off(target)

    numbers = [
        v.number for v in truth_history(target, project="default", dataset="holdout").versions
    ]
    assert numbers == [3, 2, 1]
    assert evaluate(target, run.id).matrix.counts.tolist() == (
        evaluate(source, run.id).matrix.counts.tolist()
    )
    assert verify(target).is_clean


def test_decisions_fill_gaps_and_replace_nothing(
    database: Database, other: Database, tmp_path: Path
) -> None:
    facts: dict[str, Any] = {
        "y_true": ["n", "y"] * 3,
        "y_pred": ["n", "n"] * 3,
        "dataset": "scored",
    }
    theirs = log(database, **facts)
    add_visits(database, missed=5.0)
    set_default_costs(database, project="default", dataset="scored", wanted=CostName("visits"))
    pin_baseline(database, theirs.id, author="ada")
    export_project(database, "default", tmp_path / "project.zip")
    mine = log(other, **facts)
    add_visits(other, missed=2.0)
    pin_baseline(other, mine.id, author="bea")

    import_project(other, tmp_path / "project.zip")

    baseline = baseline_of(other, project="default", dataset="scored")
    assert baseline is not None
    assert baseline.run_id == mine.id
    # Other costs of the same name are the next version of it, and count where none did.
    weights = {
        version: find_costs(
            other, project="default", wanted=CostName("visits", version)
        ).costs.weights.tolist()
        for version in (1, 2)
    }
    assert weights == {1: [[0.0, 1.0], [2.0, 0.0]], 2: [[0.0, 1.0], [5.0, 0.0]]}
    work_off(other)
    assert evaluate(other, mine.id).costs.keys() == evaluate(other, theirs.id).costs.keys()
    assert evaluate(other, mine.id).costs
    assert verify(other).is_clean


def test_costs_that_were_taken_back_are_the_newest_version(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database, dataset="scored", y_true=["n", "y"] * 3, y_pred=["n", "n"] * 3)
    for missed in (5.0, 9.0, 5.0):
        add_visits(database, missed=missed)
    export_project(database, "default", tmp_path / "project.zip")

    for _ in range(2):
        import_project(other, tmp_path / "project.zip")

    newest = find_costs(other, project="default", wanted=CostName("visits"))
    assert (newest.version, newest.costs.weights.tolist()) == (3, [[0.0, 1.0], [5.0, 0.0]])


def test_a_report_names_the_costs_by_the_number_they_have_here(
    database: Database, other: Database, tmp_path: Path
) -> None:
    facts: dict[str, Any] = {"dataset": "scored", "y_true": ["n", "y"] * 3}
    for each, missed in ((database, 5.0), (other, 2.0)):
        log(each, y_pred=["n", "n"] * 3, **facts)
        add_visits(each, missed=missed)
        work_off(each)
    scope = ReportScope(
        project="default",
        dataset="scored",
        metrics=("mean_cost",),
        cost_matrix="visits@1",
    )
    add_schedule(database, name="weekly", cron="0 6 * * 1", zone="UTC", scope=scope, delivery=())
    report_now(database, name="costs", scope=scope)
    work_off(database)
    export_project(database, "default", tmp_path / "project.zip")

    import_project(other, tmp_path / "project.zip")

    with other.read() as session:
        scopes = [
            *session.scalars(select(ScheduleRow.scope)),
            *session.scalars(select(ReportEditionRow.scope)),
        ]
    assert [each["cost_matrix"] for each in scopes] == ["visits@2", "visits@2"]


def test_results_are_computed_anew_where_a_dataset_is_described_otherwise(
    database: Database, other: Database, tmp_path: Path
) -> None:
    # Which class is positive, and whether the order of classes was declared, changes results.
    two: dict[str, Any] = {
        "y_true": ["n", "y"] * 3,
        "y_pred": ["n", "n"] * 3,
        "y_score": [[0.7, 0.3]] * 6,
    }
    run = log(database, dataset="plain", **two)
    ordered = log(database, dataset="ordered", labels=["a", "b", "c"])
    work_off(database)
    export_project(database, "default", tmp_path / "project.zip")
    log(other, dataset="plain", positive_label="y", **two)
    log(other, dataset="ordered")
    work_off(other)

    taken = import_project(other, tmp_path / "project.zip")

    assert sorted(taken.new_runs) == sorted([run.id, ordered.id])
    assert verify(other).n_waiting == 2
    work_off(other)
    assert verify(other).is_clean


def test_runs_that_are_here_are_computed_anew_where_a_positive_class_arrives(
    database: Database, other: Database, tmp_path: Path
) -> None:
    two: dict[str, Any] = {
        "y_true": ["n", "y"] * 3,
        "y_pred": ["n", "n"] * 3,
        "y_score": [[0.7, 0.3]] * 6,
    }
    log(database, dataset="plain", positive_label="y", **two)
    export_project(database, "default", tmp_path / "project.zip")
    mine = log(other, dataset="plain", **two)
    work_off(other)
    assert "roc_auc" not in evaluate(other, mine.id).aggregate

    import_project(other, tmp_path / "project.zip")

    work_off(other)
    assert evaluate(other, mine.id).aggregate["roc_auc"].value == 0.5
    assert verify(other).is_clean


def test_groups_of_classes_move_unless_they_were_decided_here(
    database: Database, other: Database, tmp_path: Path
) -> None:
    theirs, mine = {"early": ["a", "b"]}, {"late": ["b", "c"]}
    for dataset in ("grouped here", "not here"):
        log(database, dataset=dataset)
        set_hierarchy(database, project="default", dataset=dataset, given=theirs)
        log(other, dataset=dataset)
    set_hierarchy(other, project="default", dataset="grouped here", given=mine)
    export_project(database, "default", tmp_path / "project.zip")

    import_project(other, tmp_path / "project.zip")

    found = {
        dataset: hierarchy_of(other, project="default", dataset=dataset)
        for dataset in ("grouped here", "not here")
    }
    assert {name: each and each.to_dict() for name, each in found.items()} == {
        "grouped here": mine,
        "not here": theirs,
    }


def test_a_run_logged_twice_with_one_client_key_is_one(
    database: Database, other: Database, tmp_path: Path
) -> None:
    facts = RunFacts(name="run", client_key="job-1")
    theirs = log(database, facts=facts)
    pin_baseline(database, theirs.id, author=None)
    mine = log(other, facts=facts)
    export_project(database, "default", tmp_path / "project.zip")

    taken = import_project(other, tmp_path / "project.zip")

    assert (taken.new_runs, taken.known_runs) == ((), (mine.id,))
    assert run_ids(other) == [mine.id]
    baseline = baseline_of(other, project="default", dataset="holdout")
    assert baseline is not None
    assert baseline.run_id == mine.id


def test_every_table_moves_with_a_project_or_is_left_out_for_a_reason() -> None:
    moved = {table.name for table in rows_of_project(1)}

    assert moved | set(LEFT_OUT) == set(Base.metadata.tables)
    assert not moved & set(LEFT_OUT)
