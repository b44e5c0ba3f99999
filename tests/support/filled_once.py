"""Filling an empty database once for all tests of a process that begin with the same.

Logging and evaluating takes longer than what most tests do with it. On PostgreSQL, where few of
these tests run, each one fills its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from offdiag.store.database import Database

Given = TypeVar("Given")


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
