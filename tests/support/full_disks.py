"""Disks that are full: what is there can be changed, what is new finds no room."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
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
def small_disk(folder: Path, *options: str) -> Iterator[Path]:
    """A disk mounted on a folder with these options, while the block lasts."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(filler: Path) -> None:
    """Leave no room at all beside a file."""
    with filler.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1 << 14)):
            pass


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
