"""One connection pool with three ways to begin a transaction, and how connections are opened.

A server or a proxy that restarts, or an administrator, may end a connection while it is opened.
Nothing was done in it, so that is retried for every caller, even for those whose transactions
must not be repeated.

Values that are written are validated where their field is known. Values that are only searched for
come from addresses, filters and arguments; if a driver refuses one, nothing has that value.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, Engine, Pool, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from offdiag.errors import InvalidInput
from offdiag.store.driver_errors import may_open_again

_N_PAUSES = 3
_FIRST_PAUSE_S = 0.02
_SLOW_S = 2.0
"""Whoever waited this long is not made to wait several times; no time limit can be shorter."""


def report_data_errors(engine: Engine) -> None:
    """Raise `InvalidInput` for text and numbers that the driver itself refuses."""
    event.listen(engine, "handle_error", _report)


def _report(context: ExceptionContext) -> None:
    error = context.original_exception
    if isinstance(error, UnicodeEncodeError):
        what = f"{error.object[:40]!r} is not Unicode text"
    elif isinstance(error, OverflowError):
        what = "a number has more than 63 bits"
    elif type(error).__name__ == "DataError" and "NUL (0x00)" in str(error):
        what = "a text has a NUL character"
    else:
        return
    raise InvalidInput(f"{what}.", hint="Nothing stored has it; correct it.") from error


# PostgreSQL refuses NaN in a document, and SQLite would return it to readers that cannot parse it.
# Refusing it here makes both the same.
to_json = partial(json.dumps, allow_nan=False, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Engines:
    """Views of one engine that differ in how a transaction begins.

    `reading` sees one snapshot and cannot write; `writing` may write from its first statement
    on; `migrating` may in addition rebuild tables that others refer to.
    """

    reading: Engine
    writing: Engine
    migrating: Engine

    def close(self) -> None:
        closed = self.writing.pool
        self.writing.dispose()
        # Connections in use return to the closed pool, from which no one would take or close them.
        event.listen(closed, "checkin", _close)
        closed.dispose()

    def abandon(self) -> None:
        """Forget all connections without touching them, because another process owns them.

        The pool is kept alive, because freeing it would close its connections.
        """
        _abandoned.append(self.writing.pool)
        self.writing.dispose(close=False)


def _close(_connection: object, entry: ConnectionPoolEntry) -> None:
    entry.invalidate()


_abandoned: list[Pool] = []


def pauses_s() -> Iterator[float]:
    """Seconds before each retry, which double and are random, so that two do not collide again."""
    for turn in range(_N_PAUSES):
        yield _FIRST_PAUSE_S * 2**turn * random.uniform(0.5, 1.5)  # noqa: S311


def opened(connect: Callable[[], Connection]) -> Connection:
    """The connection that `connect` opens, retried at most three times if it is cut off."""
    for pause_s in pauses_s():
        began = time.monotonic()
        try:
            return connect()
        except DBAPIError as error:
            if not may_open_again(error) or time.monotonic() - began >= _SLOW_S:
                raise
        time.sleep(pause_s)
    return connect()
