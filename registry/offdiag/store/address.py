"""Parsing database URLs, with errors that say what to write instead of an unsupported one."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from offdiag.errors import InvalidInput
from offdiag.store.postgres import is_pooled

_FIELD = "database.url"
_EXAMPLES = (
    "Write sqlite:///offdiag.db, sqlite:////absolute/path/offdiag.db or "
    "postgresql://user:password@host/database, or http://host:8642 for a server."
)

_IS_DECODED = make_url("sqlite:///%25").database == "%"
"""Whether SQLAlchemy decodes the path of a file, as it does since 2.1."""


def parse_url(text: str) -> URL:
    """A URL of a database that offdiag can use, with its driver.

    Raises `InvalidInput` without repeating the text, which may hold a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise InvalidInput("this is not a database URL.", field=_FIELD, hint=_EXAMPLES) from None
    if url.drivername in ("sqlite", "sqlite+pysqlite"):
        if url.database is not None and not _IS_DECODED:
            url = url.set(database=unquote(url.database))
        return _checked_sqlite_url(url)
    if url.drivername in ("postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    raise InvalidInput(f"{url.drivername} is not supported.", field=_FIELD, hint=_EXAMPLES)


def sqlite_path(url: URL) -> Path:
    """The absolute path of the file that an SQLite URL names.

    Raises `InvalidInput` for a relative one if the current folder was deleted.
    """
    name = str(url.database)
    if _is_uri(url):
        name = unquote(name.removeprefix("file:"))
        if name.startswith("//"):  # file:///absolute, with an empty host
            name = name.removeprefix("//")
    try:
        return Path(name).absolute()
    except FileNotFoundError:
        raise InvalidInput(
            f"{name!r} is in the current folder, which was deleted.",
            field=_FIELD,
            hint="Go to another folder, or name the file by its whole path.",
        ) from None


def is_opened_read_only(url: URL) -> bool:
    """Whether the URL asks for a read-only file, with ?mode=ro&uri=true."""
    return _is_uri(url) and (url.query.get("mode") == "ro" or "immutable" in url.query)


def makes_new_file(url: URL) -> bool:
    """Whether SQLite creates the file if it does not exist; ?mode= may forbid it."""
    return not _is_uri(url) or (
        url.query.get("mode", "rwc") == "rwc" and "immutable" not in url.query
    )


def postgres_place(url: URL) -> str:
    """What a PostgreSQL URL names, for messages: without password and settings."""
    return URL.create(
        "postgresql",
        username=url.username,
        host=url.host,
        port=url.port,
        database=url.database,
    ).render_as_string()


def libpq_url(text: str) -> str:
    """A PostgreSQL URL as libpq reads it, password included, for engines that connect themselves.

    Raises `InvalidInput` for any other database, and for a pooler that lends connections per
    transaction, because these engines keep theirs.
    """
    url = parse_url(text)
    if url.get_backend_name() != "postgresql":
        raise InvalidInput(
            f"{url.get_backend_name()} is not PostgreSQL.", field=_FIELD, hint=_EXAMPLES
        )
    if is_pooled(url):
        raise InvalidInput(
            "this engine keeps connections, but a pooler lends them by transaction.",
            field=_FIELD,
            hint="Give its workers the address of the server itself.",
        )
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _checked_sqlite_url(url: URL) -> URL:
    if url.host or url.username or url.port:
        raise InvalidInput("an SQLite URL names a file, not a host.", field=_FIELD, hint=_EXAMPLES)
    name = (url.database or "").removeprefix("file:")
    if name in ("", ":memory:") or url.query.get("mode") == "memory":
        raise InvalidInput(
            "only one connection can see an in-memory database.",
            field=_FIELD,
            hint="Threads and workers would each have their own; name a file, "
            "for example in a temporary folder.",
        )
    if url.query and not _is_uri(url):
        raise InvalidInput(
            f"the parameter {min(url.query)!r} would be ignored.",
            field=_FIELD,
            hint="Write sqlite:///file:/path/offdiag.db?mode=ro&uri=true, or leave it out.",
        )
    return url


def _is_uri(url: URL) -> bool:
    return url.query.get("uri") == "true"
