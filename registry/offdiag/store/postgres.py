"""PostgreSQL: limits on every wait, so that a frozen peer or lock becomes an error in time."""

from __future__ import annotations

from sqlalchemy import URL, create_engine

from offdiag.errors import DatabaseUnavailable
from offdiag.store.engines import Engines, to_json

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


def postgres_engines(url: URL) -> Engines:
    """Engines for a server. What the URL states itself wins over the settings here.

    Raises `DatabaseUnavailable` when the driver is not installed.
    """
    settings = " ".join(f"-c {name}={value}" for name, value in _SERVER.items())
    given = url.query.get("options", "")
    try:
        engine = create_engine(
            url,
            connect_args={
                **{name: value for name, value in _CONNECTION.items() if name not in url.query},
                "options": f"{settings} {given}".strip(),
            },
            json_serializer=to_json,
            pool_pre_ping=True,
            # Better a quick "busy" than a request that queues behind slow ones.
            pool_timeout=2,
        )
    except ModuleNotFoundError as error:
        raise DatabaseUnavailable(
            "the PostgreSQL driver is not installed.", hint="pip install 'offdiag[postgres]'"
        ) from error
    return Engines(
        # One snapshot for all statements of a page, as SQLite gives it.
        reading=engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        ),
        writing=engine,
        migrating=engine,
    )
