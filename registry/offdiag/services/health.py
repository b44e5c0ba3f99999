"""Whether a registry is well, for the people who run it."""

from __future__ import annotations

from offdiag.store.database import Database
from offdiag.store.health import LONG_LOG_BYTES, QueueState, RegistryHealth, log_bytes
from offdiag.store.health import registry_health as _registry_health
from offdiag.store.schema import require_schema

__all__ = [
    "LONG_LOG_BYTES",
    "QueueState",
    "RegistryHealth",
    "log_bytes",
    "registry_health",
    "require_ready",
]


def require_ready(database: Database) -> None:
    """Raise `DatabaseUnavailable` or `SchemaMismatch` unless requests can be answered."""
    require_schema(database)


def registry_health(database: Database) -> RegistryHealth:
    """State of database, runs and queue. Raises `DatabaseUnavailable`."""
    with database.read() as session:
        return _registry_health(session)
