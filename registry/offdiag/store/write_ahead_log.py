"""How much waits in the write-ahead log of an SQLite file.

Commits are appended to it and move into the file now and then. Somebody who goes on reading
one old snapshot keeps them from moving, and the log from starting anew: it grows without limit.
"""

from __future__ import annotations

from offdiag.store.database import Database

LONG_LOG_BYTES = 64 << 20
"""Beyond this somebody keeps it from being emptied; usually it stays within 16 MiB."""


def log_bytes(database: Database) -> int | None:
    """Bytes of the log, 0 where there is none, None on PostgreSQL."""
    if database.path is None:
        return None
    log = database.path.with_name(database.path.name + "-wal")
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0
