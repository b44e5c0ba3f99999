"""What `offdiag doctor` looks at without a database: Python, extras, the key that signs forms."""

from __future__ import annotations

import platform
import shlex
import stat
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from offdiag.cli.findings import Finding

if TYPE_CHECKING:
    from offdiag.settings import ServerSettings, Settings
    from offdiag.store.database import Database

_EXTRAS = {
    "server": ("flask", "waitress", "apscheduler"),
    "postgres": ("psycopg",),
    "sql": ("duckdb",),
    "plot": ("matplotlib",),
    "oidc": ("authlib",),
    "procrastinate": ("procrastinate",),
    "team": ("gunicorn",),
    "demo": ("sklearn",),
}
"""What stands for each extra."""


def python_finding() -> Finding:
    """Which Python this is, and on what."""
    system = f"{platform.system()} {platform.machine()}"
    return Finding(
        "python", f"{platform.python_implementation()} {platform.python_version()}, {system}"
    )


def extras_finding() -> Finding:
    """Which extras are installed; none of them has to be."""
    there = [extra for extra in _EXTRAS if has_extra(extra)]
    missing = [extra for extra in _EXTRAS if extra not in there]
    text = f"installed: {', '.join(there) or 'none'}"
    return Finding("extras", f"{text}; not installed: {', '.join(missing)}" if missing else text)


def has_extra(extra: str) -> bool:
    """Whether the libraries of an extra are here."""
    return all(find_spec(library) is not None for library in _EXTRAS[extra])


def signing_key_finding(settings: ServerSettings, database: Database) -> Finding:
    """Whether `offdiag serve` would find a good key, which is not made here."""
    from offdiag_web.app.signing_key import SETTING, SUFFIX, weakness_of

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
            "there is none, and processes that serve a registry on PostgreSQL share one.",
            f"Set {SETTING} or server.secret_key_file before offdiag serve.",
        )
    return _kept(name, path)


def open_files_finding(settings: Settings, database: Database) -> Finding:
    """Which files of a registry everybody can read; new ones are made for their owner."""
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
    from offdiag_web.app.signing_key import weakness_of

    try:
        if not path.exists():
            return Finding(name, f"{path} is made when somebody serves the registry")
        key = path.read_text(encoding="utf-8", errors="replace").strip()
        is_open = bool(path.stat().st_mode & stat.S_IROTH)
    except OSError as error:
        return Finding(
            name,
            f"{path} cannot be read: {error.strerror or error}.",
            "Let the user who serves the registry read it.",
        )
    weakness = weakness_of(key)
    if weakness is not None:
        return Finding(
            name, f"the key in {path} {weakness}.", "Remove it: the next start makes one."
        )
    if is_open:
        return Finding(name, f"every user of this machine can read {path}.", f"chmod 600 {path}")
    return Finding(name, f"{path} has it")
