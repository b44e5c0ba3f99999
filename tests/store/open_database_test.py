"""What `open_database` does with a database that is ready, and with one that is not."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

import offdiag_migrations
from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.store import sqlite
from offdiag.store.database import Database
from offdiag.store.schema import check, open_database, upgrade
from support.processes import started
from support.revisions import extended_chain, use_chain

ADDS_A_COLUMN = """
def upgrade() -> None:
    op.add_column("project", sa.Column("colour", sa.Text(), nullable=True))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def set_revision(database: Database, revision: str) -> None:
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})


@pytest.mark.processes
def test_opening_what_is_current_loads_no_migrations(sqlite_database: Database) -> None:
    with started(
        "support.faults", "loaded_by_opening", sqlite_database.url, is_cold=True
    ) as process:
        loaded = process.result()

    assert "sqlalchemy" in loaded
    assert "alembic" not in loaded


def test_a_missing_file_is_made_at_the_head(sqlite_url: str) -> None:
    database = open_database(sqlite_url)

    assert check(database).is_current
    database.close()


def test_an_empty_file_is_filled(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "registry.db").touch()

    database = open_database(sqlite_url)

    assert check(database).is_current
    database.close()


def test_an_older_file_is_upgraded(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_chain(monkeypatch, extended_chain(tmp_path, "9999_adds_a_column", ADDS_A_COLUMN))

    database = open_database(sqlite_database.url)

    assert check(database).current == "9999_adds_a_column"
    with database.read() as session:
        assert session.execute(text("SELECT colour FROM project")).all() == []
    database.close()


def test_an_older_postgresql_database_is_left_to_its_administrator(
    postgres_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_chain(monkeypatch, extended_chain(tmp_path, "9999_adds_a_column", ADDS_A_COLUMN))

    with pytest.raises(SchemaMismatch, match=r"has schema \d{4}.* needs 9999") as refusal:
        open_database(postgres_database.url)

    assert "offdiag db upgrade" in str(refusal.value.hint)
    assert upgrade(postgres_database).is_current
    open_database(postgres_database.url).close()


@pytest.mark.parametrize("empty_database", ["postgresql"], indirect=True)
def test_an_empty_postgresql_database_is_not_filled_by_opening_it(
    empty_database: Database,
) -> None:
    with pytest.raises(SchemaMismatch, match="is empty") as refusal:
        open_database(empty_database.url)

    assert "offdiag db upgrade" in str(refusal.value.hint)
    assert check(empty_database).current is None


def test_a_newer_database_is_refused(database: Database) -> None:
    set_revision(database, "0999_from_the_future")

    with pytest.raises(SchemaMismatch, match="0999_from_the_future") as refusal:
        open_database(database.url)

    assert "newer offdiag" in str(refusal.value.hint)
    assert check(database).is_newer


def test_a_newer_database_is_not_upgraded(database: Database) -> None:
    set_revision(database, "0999_from_the_future")

    with pytest.raises(SchemaMismatch, match="0999_from_the_future"):
        upgrade(database)

    assert check(database).current == "0999_from_the_future"


def test_a_file_of_another_program_is_left_alone(sqlite_url: str, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "registry.db")
    other.execute("CREATE TABLE songs (title TEXT)")
    other.close()

    with pytest.raises(SchemaMismatch, match=r"another program \(songs"):
        open_database(sqlite_url)

    other = sqlite3.connect(tmp_path / "registry.db")
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("songs",)]
    other.close()


def test_looking_at_a_missing_file_does_not_make_it(sqlite_url: str, tmp_path: Path) -> None:
    state = check(Database(sqlite_url))

    assert state.current is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    path.write_text("y_true,y_pred\n" * 1000)

    with pytest.raises(DatabaseUnavailable, match=r"registry\.db: .*not an SQLite database"):
        open_database(sqlite_url)

    assert path.read_text() == "y_true,y_pred\n" * 1000


@pytest.mark.parametrize("bytes_left", [50, 16_384, 200_000])
def test_a_truncated_file_is_refused(
    sqlite_url: str, tmp_path: Path, migrated_file: Path, bytes_left: int
) -> None:
    content = migrated_file.read_bytes()[:bytes_left]
    (tmp_path / "registry.db").write_bytes(content)

    with pytest.raises(DatabaseUnavailable, match=r"registry\.db: the file is damaged or cut"):
        open_database(sqlite_url)

    assert (tmp_path / "registry.db").read_bytes() == content


def test_a_folder_in_place_of_the_file_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "registry.db").mkdir()

    with pytest.raises(DatabaseUnavailable, match="cannot be opened"):
        open_database(sqlite_url)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"nowhere/registry\.db.* folder exists"):
        open_database(f"sqlite:///{tmp_path}/nowhere/registry.db")


@pytest.mark.processes
def test_a_file_that_may_only_be_read_is_refused(open_folder: Path, migrated_file: Path) -> None:
    path = Path(shutil.copy(migrated_file, open_folder / "registry.db"))
    open_folder.chmod(0o777)
    path.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)

    with started("support.faults", "open_as_nobody", f"sqlite:///{path}") as process:
        refusal = process.result()

    assert refusal["code"] == "database_unavailable"
    assert refusal["message"] == f"{path}: {path} cannot be written by this user."
    assert "permission" in refusal["hint"]


@pytest.mark.processes
def test_a_folder_that_may_only_be_read_is_refused(open_folder: Path, migrated_file: Path) -> None:
    path = Path(shutil.copy(migrated_file, open_folder / "registry.db"))
    path.chmod(0o666)
    open_folder.chmod(0o555)

    with started("support.faults", "open_as_nobody", f"sqlite:///{path}") as process:
        refusal = process.result()

    assert refusal["message"] == f"{path}: {open_folder} cannot be written by this user."
    assert "?immutable=1&uri=true" in refusal["hint"]


@pytest.mark.processes
def test_a_file_in_a_folder_that_may_only_be_read_can_be_read(
    open_folder: Path, migrated_file: Path
) -> None:
    path = Path(shutil.copy(migrated_file, open_folder / "registry.db"))
    path.chmod(0o444)
    open_folder.chmod(0o555)

    def answer(parameter: str) -> dict[str, str] | None:
        url = f"sqlite:///file:{path}?{parameter}&uri=true"
        with started("support.faults", "open_as_nobody", url) as process:
            found: dict[str, str] | None = process.result()
            return found

    refusal = answer("mode=ro")
    assert refusal is not None
    assert "its folder cannot be written" in refusal["message"]
    assert "?immutable=1&uri=true" in refusal["hint"]
    assert answer("immutable=1") is None


def test_a_file_opened_for_reading_can_be_read_and_not_written(sqlite_database: Database) -> None:
    database = open_database(f"sqlite:///file:{sqlite_database.path}?mode=ro&uri=true")

    with database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM run")) == 0
    with (
        pytest.raises(DatabaseUnavailable, match="cannot be written"),
        database.write() as session,
    ):
        session.execute(text("DELETE FROM run"))
    database.close()


def test_a_network_share_is_refused(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(sqlite, "_MOUNTS", mounts)

    with pytest.raises(DatabaseUnavailable, match=r"network share \(nfs4\)"):
        open_database(sqlite_url)

    assert not (tmp_path / "registry.db").exists()


def test_a_python_with_an_old_sqlite_is_refused(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")

    with pytest.raises(DatabaseUnavailable, match=r"SQLite 3\.34\.1 .*older than 3\.35\.0"):
        open_database(sqlite_url)


@pytest.mark.processes
def test_a_lock_held_by_another_process_is_reported_in_time(sqlite_database: Database) -> None:
    impatient = Database(sqlite_database.url, busy_timeout_s=0.05)

    with started("support.faults", "hold_the_lock", sqlite_database.url) as process:
        process.wait_for_line()
        with pytest.raises(DatabaseUnavailable, match="holds a lock"), impatient.write():
            pass
        with impatient.read() as session:
            assert session.scalar(text("SELECT count(*) FROM run")) == 0

    impatient.close()


@pytest.mark.processes
@pytest.mark.parametrize("limit", [4_096, 250_000])
def test_a_disk_without_room_for_an_upgrade_leaves_no_table(sqlite_url: str, limit: int) -> None:
    with started("support.faults", "open_with_little_room", sqlite_url, str(limit)) as process:
        refusal = process.result()

    assert refusal["code"] == "storage_full"
    assert check(Database(sqlite_url)).current is None
    database = open_database(sqlite_url)
    assert check(database).current == offdiag_migrations.head()
    database.close()


def test_an_unreachable_server_is_reported(postgres_database: Database) -> None:
    del postgres_database  # It shows that PostgreSQL can be used here.

    with pytest.raises(DatabaseUnavailable, match="the server cannot be reached") as refusal:
        open_database("postgresql://somebody:secret@127.0.0.1:1/registry")

    assert "127.0.0.1:1/registry" in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_a_missing_database_on_the_server_is_reported(postgres_database: Database) -> None:
    url = postgres_database.url.replace("/lent_", "/no_such_database_")

    with pytest.raises(DatabaseUnavailable, match="the server has no such database"):
        open_database(url)
