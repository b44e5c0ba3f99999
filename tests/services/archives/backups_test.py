"""What one registry writes another can hold, to the last byte, on either database."""

from __future__ import annotations

import itertools
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Table, delete, event, select, text, update

import offdiag_migrations
from offdiag.errors import Conflict, DatabaseUnavailable, SchemaMismatch, StorageFull
from offdiag.services.health import beat, heart_of_this_process
from offdiag.services.retention.backups import back_up, holds_a_registry, restore
from offdiag.services.retention.project_archives import export_project
from offdiag.services.verification.verify import verify
from offdiag.store.archive import backup
from offdiag.store.archive.backup import dump_table
from offdiag.store.database import Database
from offdiag.store.models import Base, EvaluationRow, HeartbeatRow, RunRow, ScoreChunkRow, WorkRow
from offdiag.store.schema import check, migrate_to, upgrade
from support.archives import Registry, count_of, held, rewrite_manifest, run_ids
from support.logging_runs import evaluate, log, work_off
from support.revisions import extended_chain, use_chain


@pytest.mark.both_databases
def test_a_restored_backup_holds_the_same_to_the_last_byte(
    registry: Registry, other: Database, tmp_path: Path
) -> None:
    before = held(registry.database)

    made = back_up(registry.database, tmp_path / "backup.zip")
    manifest = restore(other, tmp_path / "backup.zip", force=False)

    assert held(other) == before
    assert check(other).is_current
    assert manifest == made
    assert manifest.schema == offdiag_migrations.head()
    assert manifest.rows_by_table["run"] == len(before["run"])
    assert verify(other).is_clean


@pytest.mark.both_databases
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


@pytest.mark.both_databases
def test_a_backup_is_one_moment_while_others_write(
    database: Database, other: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(database)
    work_off(database)
    before = held(database)

    tables = itertools.count()

    def dump_beside_a_writer(*arguments: Any) -> None:
        if next(tables) % 10 == 0:
            log(database, dataset="meanwhile")
        dump_table(*arguments)

    monkeypatch.setattr("offdiag.store.archive.backup.dump_table", dump_beside_a_writer)
    back_up(database, tmp_path / "backup.zip")
    restore(other, tmp_path / "backup.zip", force=False)

    assert held(other) == before
    assert count_of(database, RunRow) > 3


def test_signs_of_life_are_no_part_of_a_backup(
    database: Database, other: Database, tmp_path: Path
) -> None:
    beat(database, heart_of_this_process("worker", database))
    beat(other, heart_of_this_process("worker", other))

    back_up(database, tmp_path / "backup.zip")
    restore(other, tmp_path / "backup.zip", force=False)

    assert count_of(other, HeartbeatRow) == 0


def test_work_that_waited_in_a_backup_waits_from_now_on(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database)
    log(database, dataset="begun")
    with database.write() as session:
        long_ago = {"due": WorkRow.due - 7200, "lease_until": WorkRow.due - 7200}
        session.execute(update(WorkRow).values(long_ago))
        begun = session.scalars(select(WorkRow.id).order_by(WorkRow.id)).all()[-1]
        held_by_nobody = {"state": "doing", "attempts": 1, "lease": "gone"}
        session.execute(update(WorkRow).where(WorkRow.id == begun).values(held_by_nobody))
    back_up(database, tmp_path / "backup.zip")

    restore(other, tmp_path / "backup.zip", force=False)

    assert not verify(database).is_clean
    assert verify(other).is_clean
    work_off(other)
    assert verify(other).n_waiting == 0


def test_a_database_that_holds_something_is_replaced_only_by_force(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database)
    kept = log(other)
    back_up(database, tmp_path / "backup.zip")
    before = held(other)
    assert holds_a_registry(other)

    with pytest.raises(Conflict, match="is not empty"):
        restore(other, tmp_path / "backup.zip", force=False)
    assert held(other) == before

    restore(other, tmp_path / "backup.zip", force=True)
    assert held(other) == held(database)
    assert kept.id not in run_ids(other)


def test_a_backup_of_an_older_schema_is_brought_up_to_date(
    sqlite_database: Database,
    no_registry: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = log(sqlite_database)
    back_up(sqlite_database, tmp_path / "backup.zip")
    added = 'def upgrade():\n    op.add_column("project", sa.Column("colour", sa.Text()))\n'
    use_chain(monkeypatch, extended_chain(tmp_path / "chain", "9999_adds_a_column", added))
    assert not holds_a_registry(no_registry)

    restore(no_registry, tmp_path / "backup.zip", force=False)

    assert check(no_registry).current == "9999_adds_a_column"
    assert run_ids(no_registry) == [run.id]


@pytest.mark.both_databases
def test_a_registry_can_be_backed_up_before_it_is_upgraded(
    empty_database: Database, no_registry: Database, tmp_path: Path
) -> None:
    oldest = offdiag_migrations.revisions()[0]
    with empty_database.migrate() as connection:
        migrate_to(connection, oldest)
        connection.execute(
            text("INSERT INTO project (name, created_at) VALUES ('old', :now)"),
            {"now": "2026-01-02 03:04:05.000000"},
        )

    manifest = back_up(empty_database, tmp_path / "backup.zip")
    restore(no_registry, tmp_path / "backup.zip", force=False)

    assert manifest.schema == oldest
    upgrade(empty_database)
    assert held(no_registry)["project"] == held(empty_database)["project"]


def test_every_table_that_there_ever_was_is_known(sqlite_url: str) -> None:
    # A table that is only in older schemas would be left out of their backups.
    database = Database(sqlite_url)
    made: set[str] = set()
    with database.migrate() as connection:

        @event.listens_for(connection, "before_cursor_execute")
        def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            made.update(re.findall(r'^\s*(?:CREATE TABLE|ALTER .* RENAME TO) "?(\w+)', statement))

        migrate_to(connection, "head")
    database.close()

    # Altering a table makes another one, which then takes its name.
    own = {name for name in made if not name.startswith("_alembic_tmp_")}
    assert own - {"alembic_version"} == set(Base.metadata.tables)


def test_a_backup_of_a_newer_schema_is_refused_with_a_sentence(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    kept = log(other)
    back_up(sqlite_database, tmp_path / "backup.zip")
    rewrite_manifest(tmp_path / "backup.zip", schema="9999_from_the_future")

    with pytest.raises(SchemaMismatch, match=r"has schema 9999_from_the_future.*newer offdiag"):
        restore(other, tmp_path / "backup.zip", force=True)

    assert run_ids(other) == [kept.id]


def test_a_newer_database_is_neither_backed_up_nor_replaced(
    database: Database, other: Database, tmp_path: Path
) -> None:
    back_up(other, tmp_path / "backup.zip")
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999_future'"))

    with pytest.raises(SchemaMismatch, match="holds nothing that this version"):
        back_up(database, tmp_path / "second.zip")
    with pytest.raises(SchemaMismatch, match="has schema 9999_future"):
        restore(database, tmp_path / "backup.zip", force=True)

    assert not (tmp_path / "second.zip").exists()


def test_what_is_no_registry_cannot_be_backed_up(no_registry: Database, tmp_path: Path) -> None:
    with pytest.raises(SchemaMismatch, match="holds nothing"):
        back_up(no_registry, tmp_path / "backup.zip")

    assert list(tmp_path.iterdir()) == []


def test_a_damaged_database_is_said_to_have_to_go_first(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    back_up(sqlite_database, tmp_path / "backup.zip")
    other.close()
    assert other.path is not None
    other.path.write_bytes(other.path.read_bytes()[:20_000])

    with pytest.raises(DatabaseUnavailable, match=r"damaged or cut short.*[Mm]ove it away"):
        restore(other, tmp_path / "backup.zip", force=True)


def test_scores_that_do_not_fit_into_one_part_are_written_in_several(
    database: Database, other: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        log(
            database,
            dataset=f"d{number}",
            y_true=["n", "y"] * 100,
            y_pred=["n", "y"] * 100,
            y_score=[0.25, 0.75] * 100,
            positive_label="y",
        )
    monkeypatch.setattr("offdiag.store.archive.backup._MOST_BYTES", 1_000)
    inserted = []

    def insert_and_count(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
        inserted.extend([len(rows)] if table.name == "score_chunk" else [])
        insert_rows(connection, table, rows)

    insert_rows = backup._insert
    monkeypatch.setattr(backup, "_insert", insert_and_count)

    manifest = back_up(database, tmp_path / "backup.zip")
    restore(other, tmp_path / "backup.zip", force=False)

    sizes = [part.n_rows for part in manifest.parts if part.table == "score_chunk"]
    assert sizes == [2, 2, 1]
    assert inserted == sizes, "more than a part was in memory"
    assert count_of(other, ScoreChunkRow) == 5
    assert held(other) == held(database)


def test_backups_and_exports_can_be_read_by_their_owner_alone(
    sqlite_database: Database, tmp_path: Path
) -> None:
    log(sqlite_database)

    back_up(sqlite_database, tmp_path / "backup.zip")
    export_project(sqlite_database, "default", tmp_path / "project.zip")

    for name in ("backup.zip", "project.zip"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_progress_ends_with_all_rows_and_can_end_the_matter(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database)
    work_off(database)
    seen: list[tuple[int, int]] = []

    manifest = back_up(
        database, tmp_path / "backup.zip", progress=lambda done, rows: seen.append((done, rows))
    )

    assert seen[-1] == (manifest.n_rows, manifest.n_rows)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)

    def stop(_done: int, _rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(database, tmp_path / "second.zip", progress=stop)
    with pytest.raises(KeyboardInterrupt):
        restore(other, tmp_path / "backup.zip", force=False, progress=stop)
    assert {path.name for path in tmp_path.glob("*.zip")} == {"backup.zip"}
    assert list(tmp_path.glob(".*.part")) == []
    assert run_ids(other) == []


def test_an_archive_that_does_not_fit_on_the_disk_is_refused_before_anything_is_done(
    sqlite_database: Database, other: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(sqlite_database)
    back_up(sqlite_database, tmp_path / "backup.zip")
    monkeypatch.setattr(
        "offdiag.store.archive.file.shutil.disk_usage",
        lambda _folder: type("Usage", (), {"free": 100})(),
    )

    with pytest.raises(StorageFull, match=r"unpacks to [1-9].* kB, and .* has 100 bytes left"):
        restore(other, tmp_path / "backup.zip", force=False)


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
