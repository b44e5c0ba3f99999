"""SQLite engines: one file, one writer at a time, any number of readers.

Requirements on the file are checked before it is opened, so that nothing fails halfway.

The driver's own transactions begin too late and without the write lock, so two writers could both
read and then fail with "database is locked". Here the driver begins none itself, and every
transaction begins the way its purpose needs.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import time
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.exc import SQLAlchemyError

from offdiag.errors import DatabaseUnavailable
from offdiag.store.engines import Engines, report_data_errors, to_json

_MOUNTS = Path("/proc/self/mounts")

# Readers and writers of one file share memory, which does not work across machines.
_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "beegfs"}
    | {"fuse.sshfs", "fuse.ceph", "fuse.glusterfs", "fuse.s3fs"}
)


def require_writable(path: Path) -> None:
    """Raise `DatabaseUnavailable` unless this user may write the file, if any, and its folder."""
    for place in (path, path.parent):
        if place.exists() and not os.access(place, os.W_OK):
            # Reading needs a log beside the file, unless SQLite may rely on it not to change.
            has_log = path.with_name(f"{path.name}-wal").exists()
            how = "mode=ro" if has_log or os.access(path.parent, os.W_OK) else "immutable=1"
            raise DatabaseUnavailable(
                f"{path}: {place} cannot be written by this user.",
                hint="Give this user write permission on the file and its folder, name another "
                f"place, or open it for reading with sqlite:///file:…?{how}&uri=true.",
            )


def require_local(path: Path) -> None:
    """Raise `DatabaseUnavailable` for a file on a network share, if that can be detected."""
    if not _MOUNTS.exists():
        return
    kind = file_system_of(path.resolve(), _MOUNTS.read_text(errors="replace"))
    if kind in _NETWORK_FILE_SYSTEMS:
        raise DatabaseUnavailable(
            f"{path}: this is a network share ({kind}), on which SQLite loses data.",
            hint="Name a file on a local disk, or use PostgreSQL for several machines.",
        )


def file_system_of(path: Path, mounts: str) -> str | None:
    """Type of the file system that holds an absolute path, from the lines of /proc/mounts."""
    kind, depth = None, 0
    for line in mounts.splitlines():
        _device, point, mounted, *_ = line.split(" ")
        folder = Path(_unescaped(point))
        # A later line hides an earlier one for the same folder.
        if path.is_relative_to(folder) and len(folder.parts) >= depth:
            kind, depth = mounted, len(folder.parts)
    return kind


def _unescaped(point: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)


Synchronous = Literal["full", "normal"]

OLDEST = (3, 35, 0)
"""The first version with RETURNING, which the store uses."""

_LOG_LIMIT_BYTES = 32 << 20

_CACHE_KIB = 16 << 10
"""Page cache of a connection.

With SQLite's 2 MB, lookups for each of many runs read the same pages again and again, and take two
to three times as long.
"""

_OWNER_ONLY = 0o600
_PAUSE_S = 0.005
_FIRST_WITH_EXPONENT = 1e16
"""Python writes larger numbers with an exponent."""
_PRIMARY_CODE = 0xFF
"""Mask of the primary result code: the extended code adds details in higher bits."""

_ACCESS: Final = "offdiag_access"

# Settings of a connection before each kind of transaction, and how that begins. A migration
# replaces tables: with foreign keys on, dropping the old one would delete what refers to it. The
# switch has no effect inside a transaction, so it comes before it.
_PRAGMAS = {
    "read": ("PRAGMA query_only = ON", "PRAGMA foreign_keys = ON"),
    "write": ("PRAGMA query_only = OFF", "PRAGMA foreign_keys = ON"),
    "migrate": ("PRAGMA query_only = OFF", "PRAGMA foreign_keys = OFF"),
}
_BEGIN = {"read": "BEGIN", "write": "BEGIN IMMEDIATE", "migrate": "BEGIN IMMEDIATE"}


def sqlite_engines(
    url: URL, new_file: Path | None, *, synchronous: Synchronous, busy_timeout_s: float
) -> Engines:
    """Engines for a file. Nothing is opened before the first transaction.

    `new_file` is where SQLite would create the file if it does not exist: it is created for its
    owner alone, and SQLite gives the log next to it the same permissions.

    Raises `DatabaseUnavailable` if Python was built with a version of SQLite that is too old.
    """
    if sqlite3.sqlite_version_info < OLDEST:
        raise DatabaseUnavailable(
            f"SQLite {sqlite3.sqlite_version} of this Python is older than "
            f"{'.'.join(map(str, OLDEST))}.",
            hint="Use a newer Python build, or PostgreSQL.",
        )
    engine = create_engine(
        url,
        connect_args={"isolation_level": None, "timeout": busy_timeout_s},
        json_serializer=to_json,
        # Threads already limit the number of connections, so none should wait for another one.
        max_overflow=-1,
    )

    def prepare(connection: Any, _record: object) -> None:
        connection.create_function("decimal_text", 1, _decimal_text, deterministic=True)
        # The page size only counts before the first table; larger pages hold chunks better.
        connection.execute("PRAGMA page_size = 16384")
        _enable_write_ahead_log(connection, busy_timeout_s)
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        # A long read makes the log grow; it is truncated to this size afterwards.
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT_BYTES}")

    if new_file is not None:
        event.listen(engine, "do_connect", lambda *_: _create_for_owner(new_file))
    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "invalidate", _roll_back)
    report_data_errors(engine)
    return Engines(
        reading=_with_access(engine, "read"),
        writing=_with_access(engine, "write"),
        migrating=_with_access(engine, "migrate"),
    )


def _roll_back(connection: sqlite3.Connection, *_: object) -> None:
    """End the transaction of a connection that is about to be closed, as by an interrupt.

    SQLite closes it, and frees the file, only when no cursor is left; a notebook keeps the
    traceback of the interrupt, and with it the cursor.
    """
    with suppress(sqlite3.Error):
        connection.rollback()


def _decimal_text(number: float) -> str:
    """All digits of a decimal, as PostgreSQL stores it; SQLite rounds it to 15 digits."""
    return repr(number) if abs(number) < _FIRST_WITH_EXPONENT else f"{Decimal(repr(number)):f}"


def _create_for_owner(path: Path) -> None:
    """Create an empty file, which SQLite accepts as a new database; errors are left to SQLite."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))


def _enable_write_ahead_log(connection: sqlite3.Connection, retry_for_s: float) -> None:
    """Switch a file to a write-ahead log, which lets readers continue during a write.

    If several connections do so to a new file at once, each holds a lock that the others wait for.
    SQLite then reports a locked file to one of them immediately, whatever its timeout. That one
    tries again for `retry_for_s`.
    """
    give_up_at = time.monotonic() + retry_for_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & _PRIMARY_CODE == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > give_up_at:
                raise
            time.sleep(_PAUSE_S * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
        else:
            return


class Commits:
    """Detects whether any other connection, of any process, may have committed.

    It holds a connection. A check takes microseconds, whereas a query through a session takes a
    millisecond.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: PoolProxiedConnection | None = None
        self._version: int | None = None

    def any_since_last_call(self) -> bool:
        """Also True at first, and if the file cannot be read: the caller's read reports why."""
        try:
            if self._connection is None:
                self._connection = self._engine.raw_connection()
            # Outside a transaction, whose snapshot would not change.
            found = self._connection.cursor().execute("PRAGMA data_version").fetchone()
        except (sqlite3.Error, SQLAlchemyError):
            self.close()
            return True
        known, self._version = self._version, int(found[0])
        return self._version != known

    def close(self) -> None:
        """Return the connection; the next call takes another one."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._version = None


def _with_access(engine: Engine, access: str) -> Engine:
    return engine.execution_options(**{_ACCESS: access})


def _begin(connection: Connection) -> None:
    access = connection.get_execution_options()[_ACCESS]
    if connection.info.get(_ACCESS) != access:
        for pragma in _PRAGMAS[access]:
            connection.exec_driver_sql(pragma)
        connection.info[_ACCESS] = access
    connection.exec_driver_sql(_BEGIN[access])
