"""What one registry writes another can read, on either database, and all of it or nothing."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, select, text, update

import offdiag_migrations
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict, InvalidInput, NotFound, SchemaMismatch
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.ingest.matrices import log_matrix
from offdiag.services.ingest.opening import open_run
from offdiag.services.retention.backups import back_up, restore
from offdiag.services.retention.deleting import delete_run
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.truth.revise import revise_truth
from offdiag.services.verification.verify import verify
from offdiag.store.archive.dump import dump_table
from offdiag.store.database import Database
from offdiag.store.models import (
    EvaluationRow,
    ProjectRow,
    RunRow,
    TruthSliceRow,
    TruthVersionRow,
    WorkRow,
)
from offdiag.store.schema import check, upgrade
from support.contents import contents
from support.logging_runs import evaluate, log, work_off
from support.revisions import extended_chain, use_chain

IDS = [1, 2, 3, 4, 5, 6]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Database]:
    """An empty SQLite registry beside the one under test."""
    database = Database(f"sqlite:///{tmp_path / 'other.db'}", synchronous="normal")
    upgrade(database)
    yield database
    database.close()


def fill(database: Database) -> list[str]:
    """Runs of every kind in project default, one run in another, one open, one deleted."""
    scored = log(
        database,
        dataset="scored",
        facts=RunFacts(name="scored", client_key="job-1", params={"lr": 0.1, "seed": None}),
        y_true=["n", "y", "n", "y"],
        y_pred=["n", "y", "y", "y"],
        y_score=[0.1, 0.9, 0.8, 0.7],
        positive_label="y",
    )
    sliced = log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    work_off(database)
    revise_truth(
        database,
        project="default",
        dataset="holdout",
        labels={6: None, 1: "b"},
        reason="second look",
        author="ada",
    )
    text_ids = [f"fall-{number} ä" for number in range(3000)]
    many = np.arange(3000) % 300
    wide = log(database, dataset="wide", y_true=many, y_pred=np.roll(many, 1), sample_ids=text_ids)
    matrix = log_matrix(
        database,
        facts=RunFacts(name="matrix"),
        dataset="matrix",
        matrix=[[3, 1], [0, 2]],
        labels=["a", "b"],
        orientation="actual_columns",
        ordinal=False,
    )
    log(database, facts=RunFacts(name="elsewhere", project="other"), dataset="holdout")
    gone = log(database, dataset="gone")
    work_off(database)
    evaluation_of_slice(database, sliced.id, "site=A")
    delete_run(database, gone.id, by=None)
    open_run(
        database,
        facts=RunFacts(name="open"),
        dataset="open",
        labels=LabelSet.declared(["a", "b"]),
        positive_label=None,
    )
    return [scored.id, sliced.id, wide.id, matrix.id]


def run_ids(database: Database) -> list[str]:
    with database.read() as session:
        return sorted(session.scalars(select(RunRow.id)))


def test_a_restored_backup_holds_the_same_to_the_last_byte(
    database: Database, other: Database, tmp_path: Path
) -> None:
    fill(database)
    before = contents(database)
    file = tmp_path / "backup.zip"

    back_up(database, file)
    manifest = restore(other, file, force=False)

    assert contents(other) == before
    assert check(other).is_current
    assert manifest.schema == offdiag_migrations.head()
    assert verify(other).is_clean


def test_a_backup_of_a_file_can_be_restored_to_a_server(
    sqlite_database: Database, postgres_database: Database, tmp_path: Path
) -> None:
    fill(sqlite_database)
    before = contents(sqlite_database)

    back_up(sqlite_database, tmp_path / "backup.zip")
    restore(postgres_database, tmp_path / "backup.zip", force=False)

    assert contents(postgres_database) == before
    assert verify(postgres_database).is_clean
    # Ids go on where they were, so that new rows get new ones.
    run = log(postgres_database, dataset="new")
    assert evaluate(postgres_database, run.id).matrix.total == 6


def test_ids_that_were_handed_out_are_not_handed_out_again(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database)
    work_off(database)
    with database.write() as session:
        last = session.scalars(select(EvaluationRow.id)).one()
        session.execute(delete(EvaluationRow))

    back_up(database, tmp_path / "backup.zip")
    restore(other, tmp_path / "backup.zip", force=False)
    run = log(other)

    assert evaluate(other, run.id).id > last


def test_a_backup_is_one_moment_while_others_write(
    database: Database, other: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(database)
    work_off(database)
    before = contents(database)

    def dump_beside_a_writer(*arguments: Any) -> None:
        log(database, dataset="meanwhile")
        dump_table(*arguments)

    monkeypatch.setattr("offdiag.store.archive.backup.dump_table", dump_beside_a_writer)
    back_up(database, tmp_path / "backup.zip")
    restore(other, tmp_path / "backup.zip", force=False)

    assert contents(other) == before


def test_a_database_that_holds_something_is_replaced_only_by_force(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database)
    kept = log(other)
    back_up(database, tmp_path / "backup.zip")
    before = contents(other)

    with pytest.raises(Conflict, match="is not empty"):
        restore(other, tmp_path / "backup.zip", force=False)
    assert contents(other) == before

    restore(other, tmp_path / "backup.zip", force=True)
    assert contents(other) == contents(database)
    assert kept.id not in run_ids(other)


def test_a_missing_file_becomes_a_registry(sqlite_database: Database, tmp_path: Path) -> None:
    log(sqlite_database)
    back_up(sqlite_database, tmp_path / "backup.zip")
    new = Database(f"sqlite:///{tmp_path / 'new.db'}")

    restore(new, tmp_path / "backup.zip", force=False)

    assert contents(new) == contents(sqlite_database)
    new.close()


def test_a_backup_of_an_older_schema_is_brought_up_to_date(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = log(sqlite_database)
    back_up(sqlite_database, tmp_path / "backup.zip")
    added = 'def upgrade():\n    op.add_column("project", sa.Column("colour", sa.Text()))\n'
    use_chain(monkeypatch, extended_chain(tmp_path / "chain", "9999_adds_a_column", added))
    new = Database(f"sqlite:///{tmp_path / 'new.db'}")

    restore(new, tmp_path / "backup.zip", force=False)

    assert check(new).current == "9999_adds_a_column"
    assert run_ids(new) == [run.id]
    new.close()


def test_a_backup_of_a_newer_schema_is_refused_with_a_sentence(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    back_up(sqlite_database, tmp_path / "backup.zip")
    rewrite_manifest(tmp_path / "backup.zip", schema="9999_from_the_future")

    with pytest.raises(SchemaMismatch, match=r"has schema 9999_from_the_future.*newer offdiag"):
        restore(other, tmp_path / "backup.zip", force=True)


def test_an_existing_file_is_not_overwritten(sqlite_database: Database, tmp_path: Path) -> None:
    (tmp_path / "backup.zip").write_text("precious")

    with pytest.raises(Conflict, match="exists"):
        back_up(sqlite_database, tmp_path / "backup.zip")

    assert (tmp_path / "backup.zip").read_text() == "precious"


def test_a_backup_that_fails_leaves_no_file(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: Any) -> bytes:
        raise OSError(28, "No space left on device")

    log(sqlite_database)
    monkeypatch.setattr("offdiag.store.archive.dump.encode_rows", no_room)
    (tmp_path / "place").mkdir()

    with pytest.raises(InvalidInput, match="No space left on device"):
        back_up(sqlite_database, tmp_path / "place" / "backup.zip")

    assert list((tmp_path / "place").iterdir()) == []


def rewrite(file: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Write an archive again with other entries."""
    with zipfile.ZipFile(file) as source:
        entries = {name: source.read(name) for name in source.namelist()}
    change(entries)
    with zipfile.ZipFile(file, "w") as target:
        for name, data in entries.items():
            target.writestr(name, data)


def rewrite_manifest(file: Path, **changes: Any) -> None:
    def change(entries: dict[str, bytes]) -> None:
        manifest = json.loads(entries["manifest.json"]) | changes
        entries["manifest.json"] = json.dumps(manifest).encode()

    rewrite(file, change)


def without_a_part(entries: dict[str, bytes]) -> None:
    del entries["tables/run/00000.arrow"]


def with_a_changed_part(entries: dict[str, bytes]) -> None:
    data = entries["tables/run/00000.arrow"]
    entries["tables/run/00000.arrow"] = data[:-9] + b"x" + data[-8:]


def with_another_part(entries: dict[str, bytes]) -> None:
    entries["tables/run/00001.arrow"] = b"more"


def without_manifest(entries: dict[str, bytes]) -> None:
    del entries["manifest.json"]


def with_a_strange_manifest(entries: dict[str, bytes]) -> None:
    entries["manifest.json"] = b"[]"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without_a_part, "its parts are not those of its manifest"),
        (with_a_changed_part, "the digest of tables/run/00000.arrow is not the one it had"),
        (with_another_part, "its parts are not those of its manifest"),
        (without_manifest, "it has no manifest"),
        (with_a_strange_manifest, "it has no manifest of an offdiag archive"),
    ],
)
def test_an_archive_that_was_changed_is_refused(
    sqlite_database: Database,
    other: Database,
    tmp_path: Path,
    change: Callable[[dict[str, bytes]], None],
    sentence: str,
) -> None:
    log(sqlite_database)
    kept = log(other)
    back_up(sqlite_database, tmp_path / "backup.zip")
    export_project(sqlite_database, "default", tmp_path / "project.zip")
    for name in ("backup.zip", "project.zip"):
        rewrite(tmp_path / name, change)

    with pytest.raises(InvalidInput) as of_backup:
        restore(other, tmp_path / "backup.zip", force=True)
    with pytest.raises(InvalidInput) as of_project:
        import_project(other, tmp_path / "project.zip")

    assert sentence in str(of_backup.value)
    assert sentence in str(of_project.value)
    assert run_ids(other) == [kept.id]


def test_a_torn_archive_is_refused_wherever_it_ends(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    kept = log(other)
    export_project(sqlite_database, "default", tmp_path / "whole.zip")
    whole = (tmp_path / "whole.zip").read_bytes()
    torn = tmp_path / "torn.zip"

    for size in range(0, len(whole), len(whole) // 25):
        torn.write_bytes(whole[:size])

        with pytest.raises(InvalidInput, match="not a whole archive"):
            import_project(other, torn)

    assert run_ids(other) == [kept.id]


def test_the_kinds_of_archives_are_not_mixed_up(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    back_up(sqlite_database, tmp_path / "backup.zip")
    export_project(sqlite_database, "default", tmp_path / "project.zip")

    with pytest.raises(InvalidInput, match="is a project, not a backup"):
        restore(other, tmp_path / "project.zip", force=False)
    with pytest.raises(InvalidInput, match="is a backup of a registry, not a project"):
        import_project(other, tmp_path / "backup.zip")
    with pytest.raises(InvalidInput, match="cannot be read"):
        import_project(other, tmp_path / "nowhere.zip")


def test_a_project_moves_with_all_its_runs_and_results(
    database: Database, other: Database, tmp_path: Path
) -> None:
    expected = fill(database)
    log(other, dataset="was here before")  # So that ids differ.
    work_off(other)

    written = export_project(database, "default", tmp_path / "project.zip")
    imported = import_project(other, tmp_path / "project.zip")

    assert (written.rows_by_table["run"], sorted(imported.new_runs)) == (4, sorted(expected))
    for run_id in expected:
        there, here = evaluate(database, run_id), evaluate(other, run_id)
        assert here.matrix.counts.tolist() == there.matrix.counts.tolist()
        assert (here.aggregate, here.per_class) == (there.aggregate, there.per_class)
    found = verify(other)
    assert found.is_clean
    assert found.n_waiting == 0
    with other.read() as session:
        assert session.scalars(select(WorkRow)).all() == []
        names = session.scalars(select(ProjectRow.name).order_by(ProjectRow.name)).all()
    assert names == ["default"]


def test_a_project_can_be_imported_into_either_database(
    sqlite_database: Database, postgres_database: Database, tmp_path: Path
) -> None:
    expected = fill(sqlite_database)
    export_project(sqlite_database, "default", tmp_path / "project.zip")

    import_project(postgres_database, tmp_path / "project.zip")

    assert run_ids(postgres_database) == sorted(expected)
    assert verify(postgres_database).is_clean


def test_importing_twice_is_the_same_as_once(
    database: Database, other: Database, tmp_path: Path
) -> None:
    expected = fill(database)
    export_project(database, "default", tmp_path / "project.zip")
    import_project(other, tmp_path / "project.zip")
    before = contents(other)

    again = import_project(other, tmp_path / "project.zip")

    assert contents(other) == before
    assert again.new_runs == ()
    assert sorted(again.known_runs) == sorted(expected)


def test_a_project_comes_home_and_is_recognised(database: Database, tmp_path: Path) -> None:
    fill(database)
    export_project(database, "default", tmp_path / "project.zip")
    before = contents(database)

    imported = import_project(database, tmp_path / "project.zip")

    assert imported.new_runs == ()
    assert contents(database) == before


def test_new_runs_and_corrections_are_added_to_what_is_there(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database, sample_ids=IDS)
    work_off(database)
    export_project(database, "default", tmp_path / "first.zip")
    import_project(other, tmp_path / "first.zip")

    revise_truth(
        database,
        project="default",
        dataset="holdout",
        labels={6: "a"},
        reason="second look",
        author=None,
    )
    new = log(database, y_pred=["a"] * 6, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    work_off(database)
    export_project(database, "default", tmp_path / "second.zip")
    imported = import_project(other, tmp_path / "second.zip")

    assert imported.new_runs == (new.id,)
    assert imported.added["truth_version"] == 1
    # The run that was there before is behind the truth now.
    assert verify(other).n_waiting == 1
    work_off(other)
    assert verify(other).is_clean
    with other.read() as session:
        assert len(session.scalars(select(TruthVersionRow)).all()) == 2
        assert session.scalars(select(TruthSliceRow.name)).all() == ["site"]


def change_predictions(database: Database) -> None:
    with database.write() as session:
        session.execute(update(RunRow).values(content_digest="other"))


def delete_it(database: Database) -> None:
    delete_run(database, run_ids(database)[0], by=None)


def revise_differently(database: Database) -> None:
    revise_truth(
        database,
        project="default",
        dataset="holdout",
        labels={1: "c"},
        reason="another look",
        author=None,
    )


def slice_differently(database: Database) -> None:
    with database.write() as session:
        session.execute(update(TruthSliceRow).values(levels=["A", "C"]))


@pytest.mark.parametrize(
    ("contradict", "sentence"),
    [
        (change_predictions, "with other predictions"),
        (delete_it, "was deleted"),
        (revise_differently, "correct the same labels in different ways"),
        (slice_differently, "slice column 'site' is there with other values"),
    ],
)
def test_contradictions_end_the_import_and_nothing_is_changed(
    sqlite_database: Database,
    other: Database,
    tmp_path: Path,
    contradict: Callable[[Database], None],
    sentence: str,
) -> None:
    log(sqlite_database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    export_project(sqlite_database, "default", tmp_path / "first.zip")
    import_project(other, tmp_path / "first.zip")
    revise_truth(
        sqlite_database,
        project="default",
        dataset="holdout",
        labels={6: "a"},
        reason="second look",
        author=None,
    )
    export_project(sqlite_database, "default", tmp_path / "second.zip")
    contradict(other)
    before = contents(other)

    with pytest.raises(Conflict, match=sentence):
        import_project(other, tmp_path / "second.zip")

    assert contents(other) == before


def test_a_run_logged_twice_with_one_client_key_is_one(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    facts = RunFacts(name="run", client_key="job-1")
    log(sqlite_database, facts=facts)
    there = log(other, facts=facts)
    export_project(sqlite_database, "default", tmp_path / "project.zip")

    imported = import_project(other, tmp_path / "project.zip")

    assert imported.new_runs == ()
    assert run_ids(other) == [there.id]


def test_a_dataset_with_other_classes_is_a_conflict(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    log(other, y_true=["x", "y"], y_pred=["x", "y"])
    export_project(sqlite_database, "default", tmp_path / "project.zip")

    with pytest.raises(Conflict, match="dataset 'holdout' is there with other classes"):
        import_project(other, tmp_path / "project.zip")


def test_an_unknown_project_cannot_be_exported(sqlite_database: Database, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no project 'nowhere'"):
        export_project(sqlite_database, "nowhere", tmp_path / "project.zip")


def test_tables_of_others_in_the_same_server_are_left_alone(
    postgres_database: Database, tmp_path: Path
) -> None:
    with postgres_database.write() as session:
        session.execute(text("CREATE TABLE invoice (id int)"))
    log(postgres_database)
    back_up(postgres_database, tmp_path / "backup.zip")

    restore(postgres_database, tmp_path / "backup.zip", force=True)

    with postgres_database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM invoice")) == 0
