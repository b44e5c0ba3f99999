"""Databases whose disk is full: what is there can be changed, what is new finds no room."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from sqlalchemy import event, text

from offdiag.store.database import Database

_REFUSE = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
END $$
"""
_NEW_ROWS = ("run", "evaluation", "report_file")


@contextmanager
def full_disk(database: Database) -> Iterator[None]:
    """No new runs, results or files of reports find room while the block runs.

    SQLite is forbidden to add pages, so it finds out by itself. A PostgreSQL server would need
    a disk of its own; here a trigger answers in its place, with its state and its words.
    """
    lasting = _no_more_pages(database) if database.dialect == "sqlite" else _triggers(database)
    with lasting:
        yield


@contextmanager
def _no_more_pages(database: Database) -> Iterator[None]:
    database.close()
    with closing(sqlite3.connect(database.place)) as file:
        file.execute("VACUUM")  # Pages that upgrades left free are room for new rows.
        (pages,) = file.execute("PRAGMA page_count").fetchone()

    def bound(connection: Any, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    pool = database._engines.writing.pool
    event.listen(pool, "connect", bound)
    try:
        yield
    finally:
        event.remove(pool, "connect", bound)
        database.close()


@contextmanager
def _triggers(database: Database) -> Iterator[None]:
    with database.write() as session:
        session.execute(text(_REFUSE))
        for table in _NEW_ROWS:
            session.execute(
                text(
                    f"CREATE TRIGGER no_room BEFORE INSERT ON {table} "
                    "FOR EACH ROW EXECUTE FUNCTION refuse()"
                )
            )
    try:
        yield
    finally:
        with database.write() as session:
            session.execute(text("DROP FUNCTION refuse() CASCADE"))
