"""Filling an empty database once for all tests of a process that begin with the same.

Logging and evaluating takes longer than what most tests do with it. On PostgreSQL, where few of
these tests run, each one fills its own.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy.util import LRUCache

from offdiag.store.database import Database, utc_now

Given = TypeVar("Given")
Log = TypeVar("Log", bound=Callable[..., Any])

_MOST_COPIES = 60
"""Half a megabyte each."""


def filled_once(fill: Callable[[Database], Given]) -> Callable[[Database], Given]:
    """Make later tests begin with a copy of the file that the first one was given.

    What `fill` returns is shared: it must not change, nor hold on to the database, but may be
    the database. The runs are as old as the first test; tests of ages log their own.
    """
    kept: list[tuple[Given, bytes]] = []

    @wraps(fill)
    def filled(database: Database) -> Given:
        if database.path is None:
            return fill(database)
        # The last connection to be closed moves everything into the file itself.
        if kept:
            given, file = kept[0]
            database.close()
            database.path.write_bytes(file)
        else:
            given = fill(database)
            database.close()
            kept.append((given, database.path.read_bytes()))
        return database if isinstance(given, Database) else given  # type: ignore[return-value]

    return filled


def logged_once(log: Log) -> Log:
    """Make the same call on a file with the same content leave what it left the first time.

    So tests that begin by logging the same runs, one after the other, log them once. What `log`
    returns is shared and must not change. The runs are as old as those of the first test.
    """
    kept: LRUCache[bytes, tuple[Any, bytes]] = LRUCache(_MOST_COPIES)

    @wraps(log)
    def logged(database: Database, *arguments: Any, **named: Any) -> Any:
        before = _content(database)
        if before is None:
            return log(database, *arguments, **named)
        settings = {name: text for name, text in os.environ.items() if "OFFDIAG" in name}
        call = sha256(pickle.dumps((before, settings, arguments, named))).digest()
        if call in kept:
            given, file = kept[call]
            assert database.path is not None
            database.path.write_bytes(file)
            return given
        given = log(database, *arguments, **named)
        if (after := _content(database)) is not None:
            kept[call] = given, after
        return given

    return cast(Log, logged)


def _content(database: Database) -> bytes | None:
    """The file, where nobody else has it open and its runs are logged now."""
    if database.path is None or database.clock is not utc_now:
        return None
    # The last connection to be closed moves everything into the file itself.
    database.close()
    if Path(f"{database.path}-wal").exists():
        return None
    return database.path.read_bytes()
