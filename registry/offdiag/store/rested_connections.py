"""Connections to PostgreSQL that have rested are tried before they are used.

A server that was restarted, or a firewall, has closed them meanwhile. Trying each every time it
is used would cost a question for every transaction. One that was used a moment ago is trusted;
where it is lost nevertheless, that is a cut connection like any other.
"""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

TRUSTED_S = 1.0
_USED_AT = "used_at"


def try_after_rest(engine: Engine) -> None:
    """Let an engine replace connections that were closed while they rested."""

    def note(_connection: Any, entry: ConnectionPoolEntry, *_: Any) -> None:
        entry.info[_USED_AT] = time.monotonic()

    def check(connection: Any, entry: ConnectionPoolEntry, *_: Any) -> None:
        if time.monotonic() - entry.info[_USED_AT] < TRUSTED_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error

    event.listen(engine, "connect", note)
    event.listen(engine, "checkin", note)
    event.listen(engine, "checkout", check)
