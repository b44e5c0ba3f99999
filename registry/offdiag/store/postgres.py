"""PostgreSQL engines with a limit on every wait, so that a hung server or lock causes an error.

A connection abandons a server that no longer answers, is tested before use after it was idle, and
works with a pooler that lends it for one transaction at a time.

A restarted server, or a firewall, closes idle connections. Testing each before every use would
cost a round trip per transaction, so one that was used a moment ago is trusted; if it was closed
nevertheless, that is handled like any other lost connection.

With such a pooler, session state is lost between two transactions, or worse, seen by another
client: limits set when the connection began, prepared statements, and LISTEN. So limits are set in
each transaction, nothing is prepared, and no one listens.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from offdiag.errors import DatabaseUnavailable, InvalidInput
from offdiag.store.engines import Engines, report_data_errors, to_json

TRUSTED_S = 1.0
_USED_AT = "used_at"


def retry_when_idle(engine: Engine) -> None:
    """Let an engine replace connections that were closed while idle."""

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


_PARAMETER = "pooling"
_BY_TRANSACTION = "transaction"


def is_pooled(url: URL) -> bool:
    """Whether a URL says that a pooler lends connections per transaction.

    Raises `InvalidInput` for any other value, and for settings that such a pooler cannot pass on.
    """
    found = url.query.get(_PARAMETER)
    if found is None:
        return False
    if found != _BY_TRANSACTION:
        raise InvalidInput(
            f"{_PARAMETER}={found} is not known.",
            field="database.url",
            hint=f"Write ?{_PARAMETER}={_BY_TRANSACTION}, or leave it out: a pooler that keeps a "
            "connection for a session needs no mention.",
        )
    if "options" in url.query:
        raise InvalidInput(
            "a pooler that lends connections by transaction does not pass options on.",
            field="database.url",
            hint="Leave them out, or set them for the role: ALTER ROLE … SET …",
        )
    return True


def limit_each_transaction(engine: Engine, limits: Mapping[str, str]) -> None:
    """Set limits at the beginning of each transaction, for its duration."""
    settings = ", ".join(
        f"set_config('{name}', '{value}', true)" for name, value in limits.items()
    )

    def limit(connection: Connection) -> None:
        connection.exec_driver_sql(f"SELECT {settings}")

    event.listen(engine, "begin", limit)


# Seconds, except for the last, which the client library counts in milliseconds. Without the last
# two kinds a query to a host that vanished would wait for ever.
_CONNECTION = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "offdiag",
}
_SERVER = {
    "statement_timeout": "60s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
}
# Otherwise the locks of a host that vanished would outlive it by two hours.
_CLIENT_IS_THERE = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "15000",
}


def postgres_engines(url: URL) -> Engines:
    """Engines for a server. Settings in the URL win over those here.

    Raises `DatabaseUnavailable` when the driver is not installed, and `InvalidInput` if the URL
    says something impossible about a pooler.
    """
    pooled = is_pooled(url)
    url = url.difference_update_query([_PARAMETER])  # The driver does not know it.
    try:
        engine = create_engine(
            url,
            connect_args={
                **{name: value for name, value in _CONNECTION.items() if name not in url.query},
                **({"prepare_threshold": None} if pooled else {"options": _options(url)}),
            },
            json_serializer=_to_jsonb,
            # A quick "busy" is better than a request that queues behind slow ones.
            pool_timeout=2,
        )
    except ModuleNotFoundError as error:
        raise DatabaseUnavailable(
            "the PostgreSQL driver is not installed.", hint="pip install 'offdiag[postgres]'"
        ) from error
    report_data_errors(engine)
    retry_when_idle(engine)
    event.listen(engine, "checkin", _forget_reading)
    if pooled:
        limit_each_transaction(engine, _SERVER)
    if "statement_timeout" not in url.query.get("options", ""):
        event.listen(engine, "do_connect", _connected_with_limit)
    return Engines(
        # One snapshot for all statements of a page, as on SQLite.
        reading=engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        ),
        writing=engine,
        migrating=engine,
    )


_LARGE_FLOAT = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![-.0-9])[-.0-9]+e\+[0-9]+')
"""A text, to be left as it is, or a float from 1e16 on."""


def _to_jsonb(value: object) -> str:
    """JSON in which large floats have a fraction; JSONB returns 1e+20 as a whole number."""
    return _LARGE_FLOAT.sub(
        lambda found: found[0] if found[0][0] == '"' else f"{Decimal(found[0]):f}.0",
        to_json(value),
    )


def _options(url: URL) -> str:
    limits = _SERVER | _CLIENT_IS_THERE
    settings = " ".join(f"-c {name}={value}" for name, value in limits.items())
    return f"{settings} {url.query.get('options', '')}".strip()


def _forget_reading(connection: Any, _record: Any) -> None:
    """Let the server decide again whether transactions may write.

    After one that only reads, the library asks for READ WRITE, which a standby does not know and
    which overrides a server that was made read-only.
    """
    if connection is not None:  # It was lost.
        connection.read_only = None


def _connected_with_limit(_dialect: Any, _record: Any, arguments: Any, named: Any) -> Any:
    from offdiag.store.postgres_connection import TimeoutConnection

    return TimeoutConnection.connect(*arguments, **named)
