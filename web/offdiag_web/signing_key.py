"""The key that signs forms: the same in all processes that serve a registry, also after restarts.

It is a setting, or a file that only this user can read. The file of an embedded registry is next
to the database and is created by the first server.
"""

from __future__ import annotations

import logging
import os
import secrets
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from offdiag.errors import InvalidInput
from offdiag.settings import ServerSettings
from offdiag.store.database import Database

SETTING = "server.secret_key"
SUFFIX = ".key"
"""The suffix of the file next to an embedded database."""
SHORTEST = 32
FEWEST_CHARACTERS = 8
PLACEHOLDERS = (
    *("changeme", "changethis", "replaceme", "replacethis", "yoursecret", "yourkey"),
    *("secretkey", "supersecret", "notsosecret", "insecure", "example", "default"),
    *("placeholder", "password", "development", "letmein"),
)
"""Words in keys that were copied from documentation; case and punctuation do not matter."""
PUBLISHED = frozenset({"192b9bdd22ab9ed4d12e236c78afcb9a393ec15f71bbf5dc987d54727823bcbf"})
"""Keys that appear in the documentation of Flask."""

_MAKE_ONE = "python -c 'import secrets; print(secrets.token_hex(32))'"
_log = logging.getLogger(__name__)


def signing_key(settings: ServerSettings, database: Database) -> str:
    """The key that is used.

    `server.secret_key` takes precedence over `server.secret_key_file`, and that over the file next
    to an embedded database; a missing file is created. A registry that is opened read-only has no
    forms worth signing and gets a key that only this process knows.

    Raises `InvalidInput` for a key that others know or could guess, for a file that cannot be read
    or created, and for a team database with neither setting.
    """
    if settings.secret_key:
        return _checked(settings.secret_key, SETTING)
    if settings.secret_key_file:
        return _kept_in(Path(settings.secret_key_file).expanduser().absolute())
    if database.path is None:
        raise InvalidInput(
            "a registry on PostgreSQL is served by several processes, which have to share a key.",
            field=SETTING,
            hint=f"Set OFFDIAG_SERVER__SECRET_KEY to the output of {_MAKE_ONE}, or name a file "
            "with server.secret_key_file.",
        )
    if database.is_read_only:
        return secrets.token_hex(32)
    return _kept_in(database.path.with_name(database.path.name + SUFFIX))


def _kept_in(path: Path) -> str:
    try:
        if not path.exists():
            _make(path)
        text = path.read_text(encoding="utf-8", errors="replace").strip()
        if path.stat().st_mode & stat.S_IROTH:
            _log.warning(
                "%s signs forms and every user of this machine can read it; run: chmod 600 %s",
                path,
                path,
            )
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be read or made: {error.strerror or error}.",
            field=SETTING,
            hint=f"Set OFFDIAG_SERVER__SECRET_KEY to the output of {_MAKE_ONE}, or name a file "
            "that this user can make with server.secret_key_file.",
        ) from error
    return _checked(text, str(path))


def _make(path: Path) -> None:
    """Create a key file. If several processes start at once, one of them wins and all use its key.

    A hard link to a complete file appears at once or not at all, so no process reads half a key.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{secrets.token_hex(32)}\n")
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()


def _checked(key: str, source: str) -> str:
    if not (weakness := weakness_of(key)):
        return key
    raise InvalidInput(
        f"the key in {source} {weakness}.",
        field=SETTING,
        hint=f"Make one with {_MAKE_ONE}."
        if source == SETTING
        else f"Remove {source}: the next start makes a new one, and people sign in again.",
    )


def weakness_of(key: str) -> str | None:
    """Why a key is not secure, or None if it is."""
    plain = "".join(character for character in key.lower() if character.isalnum())
    if not key:
        return "is empty"
    if key in PUBLISHED or any(word in plain for word in PLACEHOLDERS):
        return "is one that others know"
    if len(key) < SHORTEST:
        return f"has {len(key)} characters, fewer than {SHORTEST}"
    if len(set(key)) < FEWEST_CHARACTERS:
        return f"is made of {len(set(key))} characters only"
    return None
