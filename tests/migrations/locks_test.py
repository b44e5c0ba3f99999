"""An upgrade that has to wait for a table lets the others through meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from offdiag.errors import DatabaseUnavailable
from offdiag.store import schema
from offdiag.store.database import Database
from offdiag.store.schema import check, upgrade
from support.revisions import extended_chain, use_chain

pytestmark = pytest.mark.postgres

ADDS_A_COLUMN = """
def upgrade() -> None:
    op.add_column("project", sa.Column("colour", sa.Text(), nullable=True))
"""

HELD_BY = {
    "a reader": "SELECT count(*) FROM project",
    "a writer": "INSERT INTO project (name, created_at) VALUES ('half done', now())",
}
READS = "SELECT count(*) FROM project"
WRITES = "INSERT INTO project (name, created_at) VALUES ('passed', now())"


@pytest.fixture
def database(
    postgres_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Database:
    use_chain(monkeypatch, extended_chain(tmp_path, "9999_adds_a_column", ADDS_A_COLUMN))
    monkeypatch.setattr(schema, "_LOCK_WAIT", "50ms")
    return postgres_database


@contextmanager
def held(database: Database, statement: str) -> Iterator[psycopg.Connection]:
    """A transaction of somebody else that has the table and does not end."""
    with psycopg.connect(database.url) as connection:
        connection.execute(statement.encode())
        yield connection
        connection.rollback()


def pass_through(database: Database) -> None:
    """Read and write the table, without any patience."""
    with psycopg.connect(database.url) as connection:
        connection.execute("SET lock_timeout = '1ms'")
        connection.execute(READS.encode())
        connection.execute(WRITES.encode())
        connection.rollback()


@pytest.mark.parametrize("holder", HELD_BY)
def test_others_read_and_write_while_an_upgrade_waits_for(
    database: Database, monkeypatch: pytest.MonkeyPatch, holder: str
) -> None:
    paused, go_on = threading.Event(), threading.Semaphore(0)

    def pause(_seconds: float) -> None:
        paused.set()
        assert go_on.acquire(timeout=30)

    monkeypatch.setattr("offdiag.store.schema.time.sleep", pause)

    with ThreadPoolExecutor(1) as pool:
        with held(database, HELD_BY[holder]):
            upgrading = pool.submit(upgrade, database)
            for _ in range(2):
                assert paused.wait(30), "the upgrade never let anybody through"
                paused.clear()
                pass_through(database)
                go_on.release()
            assert paused.wait(30)
        go_on.release()
        state = upgrading.result(30)

    assert state.current == "9999_adds_a_column"


def test_an_upgrade_gives_up_on_a_table_that_stays_taken(database: Database) -> None:
    before = check(database)

    with (
        held(database, HELD_BY["a writer"]),
        pytest.raises(DatabaseUnavailable, match="holds a lock on it"),
    ):
        upgrade(database, patience_s=0)

    assert check(database) == before
    pass_through(database)
