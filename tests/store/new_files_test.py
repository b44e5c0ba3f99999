"""Many that open a new file at the same moment all open it."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import text

from offdiag.store.database import Database

FILES, AT_ONCE = 40, 8
"""Of as many files, one in five is opened in such a way that SQLite itself does not wait."""


def test_all_that_open_a_new_file_at_once_open_it(tmp_path: Path) -> None:
    modes = [mode for number in range(FILES) for mode in opened(tmp_path / f"{number}.db")]

    assert modes == ["wal"] * FILES * AT_ONCE


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
