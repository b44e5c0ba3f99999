"""An upgrade happens as a whole or not at all, and once."""

from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from offdiag.errors import SchemaMismatch
from offdiag.store.database import Database
from offdiag.store.models import Base
from offdiag.store.schema import check, upgrade
from support.old_rows import CHUNK, RUN, execute
from support.processes import started
from support.revisions import extended_chain, use_chain
from support.schema_text import schema_text

STRIDE = 13 if "OFFDIAG_LONG" in os.environ else 151
"""Statements between two kills of an upgrade."""

FAILS_IN_THE_MIDDLE = """
def upgrade() -> None:
    op.add_column("run", sa.Column("colour", sa.Text(), nullable=True))
    op.execute("UPDATE project SET name = 'changed'")
    op.execute("INSERT INTO no_such_table VALUES (1)")
"""

REBUILDS_RUN = """
def upgrade() -> None:
    with op.batch_alter_table("run") as batch:
        batch.drop_column("author")
"""

LOSES_A_PARENT = """
def upgrade() -> None:
    op.execute("DELETE FROM project")
"""


def fill(database: Database) -> None:
    with database.write() as session:
        execute(session.connection(), *RUN, CHUNK)


def schema_of(database: Database) -> str:
    with database.read() as session:
        return schema_text(session.connection())


def test_a_failing_revision_leaves_the_database_as_it_was(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database)
    state, schema = check(database), schema_of(database)
    use_chain(monkeypatch, extended_chain(tmp_path, "9999_fails", FAILS_IN_THE_MIDDLE))

    with pytest.raises(Exception, match="no_such_table"):
        upgrade(database)

    monkeypatch.undo()
    assert check(database) == state
    assert schema_of(database) == schema
    with database.read() as session:
        assert session.scalar(text("SELECT name FROM project")) == "default"


def test_rebuilding_a_table_keeps_the_rows_that_refer_to_it(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database)
    use_chain(monkeypatch, extended_chain(tmp_path, "9999_rebuilds", REBUILDS_RUN))

    state = upgrade(database)

    assert state.is_current
    with database.write() as session:
        assert session.scalar(text("SELECT count(*) FROM prediction_chunk")) == 1
        session.execute(text("DELETE FROM run"))
        assert session.scalar(text("SELECT count(*) FROM prediction_chunk")) == 0


def test_an_upgrade_that_breaks_references_is_undone(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(sqlite_database)
    use_chain(monkeypatch, extended_chain(tmp_path, "9999_loses_a_parent", LOSES_A_PARENT))

    with pytest.raises(SchemaMismatch, match="rows of dataset, run would refer to missing rows"):
        upgrade(sqlite_database)

    with sqlite_database.read() as session:
        assert session.scalar(text("SELECT count(*) FROM project")) == 1


@pytest.mark.processes
def test_a_process_killed_anywhere_in_an_upgrade_leaves_nothing(empty_database: Database) -> None:
    # Each revision makes a pass longer and adds passes. The stride has no divisor in common
    # with the statements of a table, so that the kills fall on every kind of them. PostgreSQL
    # needs fewer statements, and undoes what a lost client began, whatever that was.
    with started("support.upgrade_killed_everywhere", empty_database.url, str(STRIDE)) as process:
        result = process.result()

    assert result["kills"] >= (3 if empty_database.dialect == "sqlite" else 1)
    assert check(empty_database).is_current


@pytest.mark.processes
def test_of_two_processes_that_upgrade_at_once_one_migrates(empty_database: Database) -> None:
    with (
        started("support.upgrade_in_step", empty_database.url) as one,
        started("support.upgrade_in_step", empty_database.url) as other,
    ):
        for process in (one, other):
            process.wait_for_line()
        for process in (one, other):
            process.send_line()
        results = [one.result(), other.result()]

    head = check(empty_database).head
    assert [result["current"] for result in results] == [head, head]
    # All of ours and Alembic's own.
    assert sorted(result["made"] for result in results) == [0, len(Base.metadata.tables) + 1]


def test_upgrading_what_is_current_changes_nothing(database: Database) -> None:
    before = schema_of(database)

    state = upgrade(database)

    assert state.is_current
    assert schema_of(database) == before


def test_threads_that_upgrade_different_databases_do_not_disturb_each_other(
    tmp_path: Path,
) -> None:
    databases = [Database(f"sqlite:///{tmp_path}/{number}.db") for number in range(2)]
    together = threading.Barrier(len(databases))

    def upgrade_together(database: Database) -> bool:
        together.wait()
        return upgrade(database).is_current

    with ThreadPoolExecutor(len(databases)) as pool:
        results = list(pool.map(upgrade_together, databases))

    assert results == [True] * len(databases)
    for database in databases:
        database.close()


def test_migrations_are_found_wherever_they_are_and_say_nothing_and_leave_logging_alone(
    sqlite_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    chain = extended_chain(tmp_path / "100% %(here)s", "9999_rebuilds", REBUILDS_RUN)
    use_chain(monkeypatch, chain)
    monkeypatch.chdir("/")
    root, alembic = logging.getLogger(), logging.getLogger("alembic")
    before = (root.level, list(root.handlers), alembic.level, alembic.disabled)

    assert upgrade(sqlite_database).current == "9999_rebuilds"

    assert (root.level, list(root.handlers), alembic.level, alembic.disabled) == before
    assert capfd.readouterr() == ("", "")
