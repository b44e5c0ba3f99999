"""Power fails while a registry is written: whatever the disk kept, it opens and is whole.

A commit appends to the write-ahead log and waits until the disk has it. What a power failure
leaves is the file and a part of the log, at whose end there may be anything. With OFFDIAG_LONG
set the log is cut at each of its sectors, else at one in 29: pages are not a multiple of that,
so that cuts fall everywhere in them.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from random import Random

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from support.logging_runs import log, work_off

SECTOR = 512
STRIDE = SECTOR if "OFFDIAG_LONG" in os.environ else 29 * SECTOR
N_RUNS = 3
Counts = tuple[int, ...]
"""Rows of some tables that each commit adds to."""
_COUNT = """
SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM prediction_chunk),
       (SELECT count(*) FROM work), (SELECT count(*) FROM evaluation)
"""


@pytest.fixture
def written(sqlite_database: Database) -> Iterator[tuple[Path, bytes, list[Counts]]]:
    """A file, the log of some commits on top of it, and what was there after each of them."""
    path = sqlite_database.path
    assert path is not None
    database = Database(f"sqlite:///{path}", synchronous="full")
    with closing(sqlite3.connect(path)) as kept_open:
        # As long as somebody has it open, the log stays beside the file.
        states = [counts(kept_open)]
        for number in range(N_RUNS):
            log(database, facts=RunFacts(name=f"run {number}", client_key=f"key {number}"))
            states.append(counts(kept_open))
        work_off(database)
        states.append(counts(kept_open))
        file = path.with_name("at-first.db")
        shutil.copy(path, file)
        yield file, path.with_name(path.name + "-wal").read_bytes(), states
        database.close()


def counts(connection: sqlite3.Connection) -> Counts:
    return tuple(connection.execute(_COUNT).fetchone())


def after_power_came_back(file: Path, log_on_disk: bytes) -> Path:
    """The file and its log as a new process finds them."""
    path = file.with_name("after.db")
    shutil.copy(file, path)
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    path.with_name(path.name + "-wal").write_bytes(log_on_disk)
    return path


def test_wherever_the_log_ends_there_is_a_prefix_of_what_was_committed(
    written: tuple[Path, bytes, list[Counts]],
) -> None:
    file, whole, states = written
    found: list[Counts] = []
    sizes: dict[Counts, int] = {}

    for size in (*range(0, len(whole), STRIDE), len(whole)):
        path = after_power_came_back(file, whole[:size])
        with closing(sqlite3.connect(path)) as connection:
            state = counts(connection)
            if state not in sizes:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
                sizes[state] = size
        found.append(state)

    # Each commit as a whole, one after the other, and all of them at the end.
    in_order = [state for state, _ in groupby(found)]
    assert len(in_order) == len(set(in_order))
    assert [state for state in in_order if state in states] == states
    assert in_order[-1] == states[-1]
    for state in in_order:
        database = Database(f"sqlite:///{after_power_came_back(file, whole[: sizes[state]])}")
        checked = verify(database)
        database.close()
        assert not checked.findings
        assert checked.n_runs == state[0] == state[1]


def test_anything_may_stand_where_the_log_was_not_written_yet(
    written: tuple[Path, bytes, list[Counts]],
) -> None:
    file, whole, states = written
    random = Random(5)

    for _ in range(15):
        size = random.randrange(0, len(whole), SECTOR)
        torn = whole[:size] + random.randbytes(len(whole) - size)
        with closing(sqlite3.connect(after_power_came_back(file, whole[:size]))) as connection:
            expected = counts(connection)
        with closing(sqlite3.connect(after_power_came_back(file, torn))) as connection:
            assert counts(connection) == expected
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert states[0] != states[-1]
