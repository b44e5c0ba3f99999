"""What `offdiag doctor` looks at, each as a finding with a way out where one is needed."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from offdiag.cli.examined_installation import (
    extras_finding,
    has_extra,
    open_files_finding,
    python_finding,
    signing_key_finding,
)
from offdiag.cli.findings import Finding
from offdiag.errors import OffdiagError

if TYPE_CHECKING:
    from offdiag.services.health import QueueState
    from offdiag.settings import BackupSettings, Settings
    from offdiag.store.database import Database
    from offdiag.store.schema import SchemaState

_LIBRARIES = (
    "offdiag",
    "numpy",
    "scipy",
    "pyarrow",
    "pandas",
    "sqlalchemy",
    "alembic",
    "flask",
    "waitress",
    "apscheduler",
    "psycopg",
    "scikit-learn",
)
_LITTLE_SPACE = 1 << 30
_LONG_WAIT_S = 60.0
_CLOCKS_APART_S = 5.0


def versions() -> dict[str, str]:
    """Python and the libraries that matter; those of extras may be absent."""
    return {"python": platform.python_version()} | {name: _version(name) for name in _LIBRARIES}


def examine(settings: Settings) -> list[Finding]:
    """Look at everything that can be wrong with a registry, and at its backups if it has any."""
    from offdiag.store.database import Database

    findings = [python_finding(), extras_finding(), _server_extra()]
    try:
        with closing(Database(settings.database.url)) as database:
            findings.extend(_database(database))
            if settings.backup.folder and database.dialect == "sqlite":
                findings.append(_backups(database, settings.backup))
            findings.append(open_files_finding(settings, database))
            if has_extra("server"):
                findings.append(signing_key_finding(settings.server, database))
    except OffdiagError as error:
        findings.append(
            Finding("database", error.message, error.hint or "See docs/operations.md.")
        )
    return findings


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _server_extra() -> Finding:
    missing = [name for name in ("flask", "waitress", "apscheduler") if "not" in _version(name)]
    if missing:
        text = f"logging and evaluating only: {', '.join(missing)} not installed"
        return Finding("dashboard", text)
    return Finding("dashboard", "offdiag serve and offdiag worker can run here")


def _database(database: Database) -> Iterator[Finding]:
    from offdiag.services.health import registry_health
    from offdiag.store import schema

    if database.path is not None:
        yield _disk(database.path)
    state = schema.check(database)
    yield _schema(database, state)
    if state.is_current:
        health = registry_health(database)
        yield _engine(database, health.server_version, health.journal_mode)
        yield from _log(database)
        yield clock_finding((health.database_time - database.clock()).total_seconds())
        runs = ", ".join(f"{count} {state.value}" for state, count in health.runs_by_state.items())
        yield Finding("runs", runs or "none yet")
        yield queue_finding(health.queue)


def _schema(database: Database, state: SchemaState) -> Finding:
    if state.current is None and database.path is not None:
        return Finding("database", f"{database.place} is not there yet; first use makes it")
    if state.is_current:
        return Finding("database", f"{database.place} has the current schema {state.current}")
    return Finding(
        "database",
        f"{database.place} has schema {state.current}, needed is {state.head}.",
        "Install a newer offdiag." if state.is_newer else "Run: offdiag db upgrade",
    )


def _engine(database: Database, server_version: str, mode: str | None) -> Finding:
    if mode is None:
        text = f"PostgreSQL {server_version}"
        if not database.can_listen:
            text += " through a pooler by transaction: LISTEN is off, workers look for work"
        return Finding("engine", text)
    if mode == "wal" or database.is_read_only:
        return Finding("engine", f"SQLite {server_version}, journal {mode}")
    return Finding(
        "engine",
        f"SQLite {server_version} cannot use its write-ahead log here (journal {mode}).",
        "Move the file to a local disk; network shares cannot share it between processes.",
    )


def _log(database: Database) -> Iterator[Finding]:
    from offdiag.services.health import LONG_LOG_BYTES, log_bytes

    length = log_bytes(database)
    if length is not None and length > LONG_LOG_BYTES:
        yield Finding(
            "log",
            f"the write-ahead log holds {length / (1 << 20):.0f} MiB and cannot be emptied.",
            "Find and end the program that has been reading the file for long; the log shrinks "
            "by itself then.",
        )


def clock_finding(ahead_s: float) -> Finding:
    """Whether the clock of the database and that of this machine agree."""
    text = f"the database is {abs(ahead_s):.1f} s {'ahead' if ahead_s > 0 else 'behind'}"
    if abs(ahead_s) <= _CLOCKS_APART_S:
        return Finding("clock", text)
    return Finding(
        "clock",
        f"{text}: times that people read come from one clock, leases from the other.",
        "Let both machines keep time by NTP.",
    )


def queue_finding(queue: QueueState) -> Finding:
    """Whether somebody works the queue off."""
    text = f"{queue.waiting} waiting, {queue.doing} being done, {queue.dead} given up"
    if queue.dead:
        hint = "offdiag jobs list shows why; offdiag jobs retry tries again."
        return Finding("queue", f"{text}.", hint)
    if queue.abandoned:
        return Finding(
            "queue",
            f"{text}; {queue.abandoned} of them by a worker that gives no sign of life.",
            "Start offdiag worker or offdiag serve: it takes them over.",
        )
    waited = queue.oldest_waiting_s
    if waited is not None and waited > _LONG_WAIT_S and not queue.doing:
        return Finding(
            "queue",
            f"{text}; the oldest waits for {waited:.0f} s.",
            "Start offdiag worker or offdiag serve.",
        )
    return Finding("queue", text)


def _backups(database: Database, settings: BackupSettings) -> Finding:
    from offdiag.services.retention.backup_folder import overdue_since, stored_backups

    stored = stored_backups(database, settings)
    newest = f"the newest of {len(stored)} is {stored[0].path.name}" if stored else "none yet"
    text = f"{newest} in {settings.folder}"
    if overdue_since(database, settings) is None:
        return Finding("backups", text)
    return Finding(
        "backups",
        f"{text}, although one is due every {settings.every}.",
        "Start offdiag worker or offdiag serve; their log says why a backup failed.",
    )


def _disk(path: Path) -> Finding:
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    free = shutil.disk_usage(folder).free
    text = f"{free / (1 << 30):.1f} GiB free at {folder}"
    if free < _LITTLE_SPACE:
        return Finding("disk", f"{text}.", "Make room before the next large run.")
    return Finding("disk", text)
