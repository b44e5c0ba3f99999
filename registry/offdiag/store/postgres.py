"""PostgreSQL: limits on every wait, so that a frozen peer or lock becomes an error in time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, create_engine, event

from offdiag.errors import DatabaseUnavailable
from offdiag.store.engines import Engines, to_json
from offdiag.store.pooling import is_pooled, limit_each_transaction, without_mention
from offdiag.store.rested_connections import try_after_rest
from offdiag.store.unstorable import tell_unstorable

# Seconds, except for the last, which the client library counts in milliseconds. Without the
# last two kinds a query to a host that vanished would wait for ever.
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
# So that the locks of a host that vanished do not outlive it for two hours.
_CLIENT_IS_THERE = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "15000",
}


def postgres_engines(url: URL) -> Engines:
    """Engines for a server. What the URL states itself wins over the settings here.

    Raises `DatabaseUnavailable` when the driver is not installed, and `InvalidInput` where the
    URL says something else about a pooler than can be.
    """
    pooled = is_pooled(url)
    url = without_mention(url)
    try:
        engine = create_engine(
            url,
            connect_args={
                **{name: value for name, value in _CONNECTION.items() if name not in url.query},
                **({"prepare_threshold": None} if pooled else {"options": _options(url)}),
            },
            json_serializer=to_json,
            # Better a quick "busy" than a request that queues behind slow ones.
            pool_timeout=2,
        )
    except ModuleNotFoundError as error:
        raise DatabaseUnavailable(
            "the PostgreSQL driver is not installed.", hint="pip install 'offdiag[postgres]'"
        ) from error
    tell_unstorable(engine)
    try_after_rest(engine)
    if pooled:
        limit_each_transaction(engine, _SERVER)
    if "statement_timeout" not in url.query.get("options", ""):
        event.listen(engine, "do_connect", _connected_with_limit)
    return Engines(
        # One snapshot for all statements of a page, as SQLite gives it.
        reading=engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        ),
        writing=engine,
        migrating=engine,
    )


def _options(url: URL) -> str:
    limits = _SERVER | _CLIENT_IS_THERE
    settings = " ".join(f"-c {name}={value}" for name, value in limits.items())
    return f"{settings} {url.query.get('options', '')}".strip()


def _connected_with_limit(_dialect: Any, _record: Any, arguments: Any, named: Any) -> Any:
    from offdiag.store.patient_connection import PatientConnection

    return PatientConnection.connect(*arguments, **named)
