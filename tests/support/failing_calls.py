"""A database of which one call fails: the n-th, as a disk or a network would let it fail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import event

from offdiag.store.database import Database


class Calls:
    """Counts calls and lets the n-th fail.

    A commit is two of them: it may fail before it is done, and its answer may be lost after.
    """

    def __init__(self, nth: int, error: Callable[[], Exception]) -> None:
        self._left = nth
        self._error = error

    @property
    def has_failed(self) -> bool:
        return self._left <= 0

    def count(self, *_: object) -> None:
        self._left -= 1
        if self._left == 0:
            raise self._error()

    def around_commit(self, commit: Callable[[Any], None]) -> Callable[[Any], None]:
        def counted(connection: Any) -> None:
            self.count()
            commit(connection)
            self.count()

        return counted

    def before(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        def counted(connection: Any) -> None:
            self.count()
            call(connection)

        return counted


@contextmanager
def failing_at(database: Database, nth: int) -> Iterator[Calls]:
    """Let the n-th statement, commit or rollback of the block fail with an error of the driver."""
    dialect: Any = database._engines.writing.dialect
    calls = Calls(nth, _broken_disk if database.dialect == "sqlite" else _broken_network)
    hooks = ("do_execute", "do_executemany", "do_execute_no_params")
    engine = database._engines.writing
    commit, rollback = dialect.do_commit, dialect.do_rollback
    for hook in hooks:
        event.listen(engine, hook, calls.count)
    dialect.do_commit = calls.around_commit(commit)
    dialect.do_rollback = calls.before(rollback)
    try:
        yield calls
    finally:
        dialect.do_commit, dialect.do_rollback = commit, rollback
        for hook in hooks:
            event.remove(engine, hook, calls.count)


def _broken_disk() -> Exception:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    return error


def _broken_network() -> Exception:
    return psycopg.OperationalError("server closed the connection unexpectedly")
