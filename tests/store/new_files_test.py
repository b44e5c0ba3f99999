"""A new file: many that open it at the same moment do, and it is there for its owner alone."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from offdiag.errors import DatabaseUnavailable
from offdiag.store.database import Database

FILES, AT_ONCE = 40, 8
"""Of as many files, one in five is opened in such a way that SQLite itself does not wait."""


def test_all_that_open_a_new_file_at_once_open_it(tmp_path: Path) -> None:
    modes = [mode for number in range(FILES) for mode in opened(tmp_path / f"{number}.db")]

    assert modes == ["wal"] * FILES * AT_ONCE


def test_a_new_file_and_its_log_are_there_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(Database(f"sqlite:///{tmp_path / 'new.db'}")) as database:
            with database.write() as session:
                session.execute(text("CREATE TABLE t (x)"))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)

    assert modes == {"new.db": 0o600, "new.db-wal": 0o600, "new.db-shm": 0o600}


@pytest.mark.parametrize("mode", ["ro", "rw"])
def test_a_file_that_must_be_there_already_is_not_made(tmp_path: Path, mode: str) -> None:
    url = f"sqlite:///file:{tmp_path / 'none.db'}?mode={mode}&uri=true"

    with closing(Database(url)) as database, pytest.raises(DatabaseUnavailable), database.read():
        pass

    assert list(tmp_path.iterdir()) == []


def opened(path: Path) -> list[str]:
    """What each of the many says about the journal of a file, or why it could not be opened."""
    start = threading.Barrier(AT_ONCE)
    found: list[str] = []

    def open_it() -> None:
        database = Database(f"sqlite:///{path}")
        start.wait()
        try:
            with database.write() as session:
                found.append(str(session.scalar(text("PRAGMA journal_mode"))))
        except Exception as error:  # noqa: BLE001 - it is compared with what there should be
            found.append(repr(error))
        database.close()

    threads = [threading.Thread(target=open_it) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
