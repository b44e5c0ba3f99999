"""Whether others have committed is asked of a file without looking into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.store.database import Database
from support.rows import add_project


def test_each_commit_of_whatever_connection_is_told_once(sqlite_database: Database) -> None:
    elsewhere = Database(sqlite_database.url)

    with sqlite_database.watching() as others_committed:
        told = [others_committed(), others_committed()]
        for number, database in enumerate((elsewhere, sqlite_database)):
            with database.write() as session:
                add_project(session, name=f"of {number}")
                told.append(others_committed())
            told += [others_committed(), others_committed()]

    elsewhere.close()
    assert told == [True, False, *[False, True, False] * 2]


def test_a_change_that_was_undone_is_not_told(sqlite_database: Database) -> None:
    def write_and_fail() -> None:
        with sqlite_database.write() as session:
            add_project(session)
            raise ValueError("stop here")

    with sqlite_database.watching() as others_committed:
        others_committed()
        with pytest.raises(ValueError, match="stop here"):
            write_and_fail()
        assert not others_committed()


def test_where_a_file_cannot_be_asked_looking_has_to_tell_why(tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    path.write_bytes(b"no database" * 100)
    database = Database(f"sqlite:///{path}")

    with database.watching() as others_committed:
        assert [others_committed() for _ in range(3)] == [True] * 3

    database.close()
