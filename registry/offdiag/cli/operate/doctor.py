"""`offdiag doctor`: checks of the installation, the settings and the registry."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.call import Call, database_url, is_server, registry_options
from offdiag.cli.documents import Server
from offdiag.cli.options import help_text
from offdiag.cli.output import busy
from offdiag.errors import DatabaseUnavailable, OffdiagError
from offdiag.extras import LIBRARIES, has_extra
from offdiag.records.access import Me
from offdiag.sdk.remote.connection import Connection

if TYPE_CHECKING:
    from offdiag.settings import BackupSettings, ClientSettings, ServerSettings, Settings
    from offdiag.store.database import Database
    from offdiag.store.health import QueueState
    from offdiag.store.schema import SchemaState


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. If it is a problem, it has a hint."""

    name: str
    text: str
    hint: str | None = None

    @property
    def is_problem(self) -> bool:
        return self.hint is not None

    @property
    def sentence(self) -> str:
        return f"ok: {self.text}" if self.hint is None else f"PROBLEM: {self.text} {self.hint}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "ok": not self.is_problem,
            "text": self.text,
            "hint": self.hint,
        }


def python_finding() -> Finding:
    system = f"{platform.system()} {platform.machine()}"
    return Finding(
        "python", f"{platform.python_implementation()} {platform.python_version()}, {system}"
    )


def extras_finding() -> Finding:
    """Which extras are installed; all are optional."""
    there = [extra for extra in LIBRARIES if has_extra(extra)]
    missing = [extra for extra in LIBRARIES if extra not in there]
    text = f"installed: {', '.join(there) or 'none'}"
    return Finding("extras", f"{text}; not installed: {', '.join(missing)}" if missing else text)


def offline_queue_finding(settings: ClientSettings) -> Finding:
    """Whether runs wait in the offline queue, or stay there because they were refused."""
    from offdiag.sdk.remote.spool import spooled_runs

    name, spool = "offline queue", Path(settings.spool).expanduser().absolute()
    waiting = refused = 0
    try:
        for run in spooled_runs(spool):
            if run.refusal() is not None:
                refused += 1
            elif not run.is_unfilled():
                waiting += 1
    except OSError as error:
        return Finding(
            name,
            f"{spool} cannot be read: {error.strerror or error}.",
            "Run offdiag doctor as the user who logs.",
        )
    text = f"{waiting} waiting, {refused} refused in {spool}"
    if refused:
        return Finding(
            name,
            f"{text}.",
            "offdiag sync says why and sends what waits; offdiag sync --retry sends refused runs "
            "again, --discard FOLDER removes one.",
        )
    if waiting and settings.mode != "offline":
        return Finding(name, f"{text}.", "Run offdiag sync: it sends them.")
    return Finding(name, f"{text}; offdiag sync sends them" if waiting else f"{spool} is empty")


def settings_findings(settings: Settings) -> Iterator[Finding]:
    """Problems with settings that are only read when a worker starts, users sign in or a webhook
    is sent."""
    from offdiag.services.delivery.message import DeliveryRefused
    from offdiag.services.delivery.webhook import signing_key
    from offdiag.services.jobs.submit import notifier_named

    try:
        notifier_named(settings.jobs.engine)
    except OffdiagError as error:
        yield Finding("jobs.engine", error.message, error.hint or "Install or correct it.")
    if has_extra("server"):
        from offdiag.services.access.openid import read_roles

        try:
            read_roles(settings.oidc.roles)
        except OffdiagError as error:
            yield Finding("oidc.roles", error.message, error.hint or "Correct it.")
    try:
        signing_key(settings.webhook.secret)
    except DeliveryRefused as error:
        yield Finding("webhook.secret", "nothing can be posted.", str(error))


def signing_key_finding(settings: ServerSettings, database: Database) -> Finding:
    """Whether `offdiag serve` would find a strong key; the check creates none."""
    from offdiag_web.signing_key import SETTING, SUFFIX, weakness_of

    name = "signing key"
    if settings.secret_key:
        weakness = weakness_of(settings.secret_key)
        if weakness is None:
            return Finding(name, f"{SETTING} is set")
        return Finding(name, f"the key in {SETTING} {weakness}.", "Set another one.")
    if settings.secret_key_file:
        path = Path(settings.secret_key_file).expanduser().absolute()
    elif database.path is not None:
        path = database.path.with_name(database.path.name + SUFFIX)
    else:
        return Finding(
            name,
            "there is none; all servers of a registry on PostgreSQL share one.",
            f"Set {SETTING} or server.secret_key_file before offdiag serve.",
        )
    return _kept(name, path)


def open_files_finding(settings: Settings, database: Database) -> Finding:
    """Which files of the registry every user of the machine can read."""
    places = [Path(settings.client.spool)]
    if settings.backup.folder:
        places.append(Path(settings.backup.folder))
    if database.path is not None:
        name = database.path.name
        places += (database.path.with_name(name + end) for end in ("", "-wal", "-shm"))
    found = [place.expanduser().absolute() for place in places]
    found = [place for place in found if place.exists() and place.stat().st_mode & stat.S_IRWXO]
    if not found:
        return Finding("permissions", "only their owner can read the files of this registry")
    return Finding(
        "permissions",
        f"every user of this machine can read {', '.join(map(str, found))}.",
        f"chmod -R o-rwx {' '.join(shlex.quote(str(place)) for place in found)}",
    )


def _kept(name: str, path: Path) -> Finding:
    from offdiag_web.signing_key import weakness_of

    try:
        if not path.parent.is_dir():
            return Finding(
                name, f"the folder of {path} does not exist.", "Make it, or name another file."
            )
        if not os.path.lexists(path):
            return Finding(name, f"{path} is created by offdiag serve")
        key = path.read_text(encoding="utf-8", errors="replace").strip()
        is_open = bool(path.stat().st_mode & stat.S_IROTH)
    except OSError as error:
        return Finding(
            name,
            f"{path} cannot be read: {error.strerror or error}.",
            "Give the user of offdiag serve read access.",
        )
    weakness = weakness_of(key)
    if weakness is not None:
        return Finding(
            name,
            f"the key in {path} {weakness}.",
            "Remove it: the next start creates one, and people sign in again.",
        )
    if is_open:
        return Finding(name, f"every user of this machine can read {path}.", f"chmod 600 {path}")
    return Finding(name, f"{path} is a strong key")


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
    """Versions of Python and the main libraries; those of extras may be missing."""
    return {"python": platform.python_version()} | {name: _version(name) for name in _LIBRARIES}


def examine(settings: Settings) -> list[Finding]:
    """Run all checks of the installation, the registry and its backups."""
    findings = [python_finding(), extras_finding(), offline_queue_finding(settings.client)]
    if is_server(settings.database.url):
        return [*findings, _server(settings)]
    if not has_extra("local"):
        text = f"{settings.database.url} is a database, which needs offdiag[local]."
        hint = "Set OFFDIAG_URL to the address of a server, or run: pip install 'offdiag[local]'"
        return [*findings, Finding("database", text, hint)]
    from offdiag.store.database import Database

    findings.extend(settings_findings(settings))
    try:
        with closing(Database(database_url(settings))) as database:
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


def _server(settings: Settings) -> Finding:
    """Whether the server responds and accepts the token."""
    url = settings.database.url
    try:
        found = Server(Connection.of(url, settings)).ask("/me", Me)
    except OffdiagError as error:
        return Finding("server", error.message, error.hint or "Check OFFDIAG_URL.")
    return Finding("server", f"{url} runs offdiag {found.version}; you are {found.with_roles}")


def _database(database: Database) -> Iterator[Finding]:
    from offdiag.store import schema
    from offdiag.store.health import registry_health

    if database.path is not None:
        yield _disk(database.path)
        if not database.is_read_only:
            _require_place(database.path)
    state = schema.check(database)
    yield _schema(database, state)
    if state.is_current:
        with database.read() as session:
            health = registry_health(session)
        yield _engine(database, health.server_version, health.journal_mode)
        yield from _log(database)
        yield clock_finding((health.database_time - database.clock()).total_seconds())
        runs = ", ".join(f"{count} {state.value}" for state, count in health.runs_by_state.items())
        yield Finding("runs", runs or "none yet")
        yield queue_finding(health.queue)


def _require_place(path: Path) -> None:
    """Raise `DatabaseUnavailable` if every other command would refuse or fail to use the file."""
    from offdiag.store.sqlite import require_writable

    if not path.parent.is_dir():
        raise DatabaseUnavailable(
            f"{path}: the folder {path.parent} does not exist.",
            hint="Create it, or name another place.",
        )
    require_writable(path)


def _schema(database: Database, state: SchemaState) -> Finding:
    if state.current is None and database.path is not None:
        return Finding("database", f"{database.place} does not exist yet; first use creates it")
    if state.is_current:
        return Finding("database", f"{database.place} has the current schema {state.current}")
    return Finding(
        "database",
        f"{database.place} has schema {state.current}, required is {state.head}.",
        "Install a newer offdiag." if state.is_newer else "Run: offdiag db upgrade",
    )


def _engine(database: Database, server_version: str, mode: str | None) -> Finding:
    if mode is None:
        text = f"PostgreSQL {server_version}"
        if not database.can_listen:
            text += " through a transaction pooler: LISTEN is off, workers poll for jobs"
        return Finding("engine", text)
    if mode == "wal" or database.is_read_only:
        return Finding("engine", f"SQLite {server_version}, journal {mode}")
    return Finding(
        "engine",
        f"SQLite {server_version} cannot use its write-ahead log here (journal {mode}).",
        "Move the file to a local disk; a network share cannot be shared between processes.",
    )


def _log(database: Database) -> Iterator[Finding]:
    from offdiag.store.health import LONG_LOG_BYTES, log_bytes

    length = log_bytes(database)
    if length is not None and length > LONG_LOG_BYTES:
        yield Finding(
            "log",
            f"the write-ahead log has {length / (1 << 20):.0f} MiB and cannot be emptied.",
            "End the program that has been reading the file for a long time; the log then "
            "shrinks by itself.",
        )


def clock_finding(ahead_s: float) -> Finding:
    """Whether the clocks of the database and of this machine agree."""
    text = f"the database is {abs(ahead_s):.1f} s {'ahead' if ahead_s > 0 else 'behind'}"
    if abs(ahead_s) <= _CLOCKS_APART_S:
        return Finding("clock", text)
    return Finding(
        "clock",
        f"{text}: displayed times come from one clock, leases from the other.",
        "Synchronise both machines with NTP.",
    )


def queue_finding(queue: QueueState) -> Finding:
    """Whether jobs are executed."""
    text = f"{queue.waiting} queued, {queue.doing} running, {queue.dead} failed"
    if queue.dead:
        hint = "offdiag jobs list shows why; offdiag jobs retry --all retries them."
        return Finding("queue", f"{text}.", hint)
    if queue.abandoned:
        return Finding(
            "queue",
            f"{text}; {queue.abandoned} of them on a worker without heartbeat.",
            "Start offdiag worker or offdiag serve: it executes them.",
        )
    waited = queue.oldest_waiting_s
    if waited is not None and waited > _LONG_WAIT_S and not queue.doing:
        return Finding(
            "queue",
            f"{text}; the oldest was queued {waited:.0f} s ago.",
            "Start offdiag worker or offdiag serve.",
        )
    return Finding("queue", text)


def _backups(database: Database, settings: BackupSettings) -> Finding:
    from offdiag.services.retention.backups import overdue_since, stored_backups

    stored = stored_backups(database, settings)
    newest = f"the newest of {len(stored)} is {stored[0].path.name}" if stored else "none yet"
    text = f"{newest} in {settings.folder}"
    if overdue_since(database, settings) is None:
        return Finding("backups", text)
    return Finding(
        "backups",
        f"{text}; one is due every {settings.every}.",
        "Start offdiag worker or offdiag serve; their log says why a backup failed.",
    )


def _disk(path: Path) -> Finding:
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    free = shutil.disk_usage(folder).free
    text = f"{free / (1 << 30):.1f} GiB free at {folder}"
    if free < _LITTLE_SPACE:
        return Finding("disk", f"{text}.", "Free disk space before logging large runs.")
    return Finding("disk", text)


@help_text("doctor", "doctor --json", see=("db check", "jobs list"), no="there is a problem")
@click.command()
@registry_options
@click.pass_context
def doctor(context: click.Context, call: Call) -> None:
    """Check installation, settings, database, clocks, disk space, queues and signing key."""
    from offdiag.cli.tables import facts_table
    from offdiag.settings import describe_settings

    settings, in_force = describe_settings(), call.settings
    with busy("Checking"):
        findings = examine(in_force)
    healthy = not any(finding.is_problem for finding in findings)
    problems_first = sorted(findings, key=lambda found: not found.is_problem)
    changed = {
        row.key: f"{row.value}  ({row.source})" for row in settings if row.source != "default"
    }
    call.print(
        {
            "healthy": healthy,
            "versions": versions(),
            "settings": {row.key: {"value": row.value, "source": row.source} for row in settings},
            "findings": [finding.to_dict() for finding in findings],
        },
        (
            facts_table("Findings", {found.name: found.sentence for found in problems_first}),
            facts_table("Versions", versions()),
            facts_table("Settings other than the defaults, which --json has", changed),
        ),
    )
    if not healthy:
        context.exit(1)
