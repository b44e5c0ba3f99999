"""Checking the schema of a database, and upgrading it to the one this program needs.

An upgrade is one transaction under one lock. A process killed in the middle has changed nothing,
and if two start at once, one migrates while the other waits and finds it done.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

import offdiag_migrations
from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.store.bi_views import put_up, take_down
from offdiag.store.database import Database
from offdiag.store.driver_errors import is_away
from offdiag.store.models.base import Base
from offdiag.store.sqlite import require_local, require_writable

# Any number works, as long as all versions of offdiag agree on it.
_ADVISORY_LOCK = 0x0FFD1A6

_LOCK_WAIT = "2s"
"""How long one attempt waits for a table. Other clients queue behind the upgrade meanwhile."""
_PAUSE_S = 1.0
RETRY_FOR_S = 60.0
_NO_LOCK = "55P03"

# Alembic keeps the current migration in module globals, so one thread at a time may use it.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class SchemaState:
    """`current` is the database's revision, None for an empty one; `head` is this program's."""

    current: str | None
    head: str
    is_current: bool
    is_newer: bool
    """Whether the database has a revision this program does not know."""


def check(database: Database) -> SchemaState:
    """The state of a database, which is neither changed nor created.

    Raises `DatabaseUnavailable` when it cannot be read.
    """
    if database.path is not None and not database.path.exists():
        return _state(None)
    with database.read() as session:
        return state_of(session.connection())


def upgrade(database: Database, *, patience_s: float = RETRY_FOR_S) -> SchemaState:
    """Upgrade a database to the head, creating the SQLite file if there is none.

    On PostgreSQL an upgrade that waits for a table makes all clients wait behind it, readers too.
    So it waits two seconds, undoes what it did, lets the others through and retries, for about
    `patience_s` seconds.

    Raises `SchemaMismatch` for a newer database and for a file of another program,
    `DatabaseUnavailable` when it cannot be written or a client locks a table for too long. Nothing
    is changed in these cases.
    """
    give_up_at = time.monotonic() + patience_s
    while True:
        try:
            return _upgrade(database)
        except DatabaseUnavailable as error:
            if not _wanted_a_lock(error) or time.monotonic() >= give_up_at:
                raise
        time.sleep(_PAUSE_S)


def _upgrade(database: Database) -> SchemaState:
    with database.migrate() as connection:
        wait_for_other_upgrades(connection)
        state = state_of(connection)
        refuse_what_is_not_ours(database, connection, state)
        if not state.is_current:
            take_down(connection)
            migrate_to(connection, "head")
            require_intact_references(connection)
            put_up(connection)
        return state_of(connection)


def _wanted_a_lock(error: DatabaseUnavailable) -> bool:
    cause = error.__cause__
    return isinstance(cause, DBAPIError) and getattr(cause.orig, "sqlstate", None) == _NO_LOCK


def require_schema(database: Database) -> None:
    """Raise `SchemaMismatch` unless a database has the schema that this program needs.

    Nothing is changed. Raises `DatabaseUnavailable` when it cannot be read.
    """
    _require_current(database, check(database))


def open_database(url: str, *, may_be_away: bool = False, **options: Any) -> Database:
    """A database at the head, ready for use; `options` are those of `Database`.

    If it `may_be_away`, a server that cannot be reached now is no error: transactions raise
    `DatabaseUnavailable` until it can be, and then the first one checks the schema.

    An SQLite file is created or upgraded if necessary. A PostgreSQL database is not: several
    programs use it, and its administrator decides when they change.

    Raises `InvalidInput` for an unusable URL, `SchemaMismatch` for another schema,
    `DatabaseUnavailable` if the file or the server is at fault.
    """
    database = Database(url, **options)
    try:
        if database.path is not None and not database.is_read_only:
            require_local(database.path)
            require_writable(database.path)
        try:
            state = check(database)
        except DatabaseUnavailable as error:
            if not (may_be_away and is_away(error)):
                raise
            database.check_first(lambda found: _require_current(database, state_of(found)))
            state = _state(offdiag_migrations.head())
        if database.dialect == "sqlite" and not state.is_current:
            database.is_new = state.current is None
            state = upgrade(database)
        _require_current(database, state)
        database.hold_to(state.head)
    except BaseException:
        database.close()
        raise
    return database


def state_of(connection: Connection) -> SchemaState:
    """The state of the database behind an open transaction."""
    return _state(_current_revision(connection))


def _state(current: str | None) -> SchemaState:
    head = offdiag_migrations.head()
    return SchemaState(
        current=current,
        head=head,
        is_current=current == head,
        is_newer=current is not None and current not in offdiag_migrations.revisions(),
    )


def _current_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def missing_parts(connection: Connection) -> list[str]:
    """What a database at the head lacks of the models: tables, and columns and indexes of others.

    Nothing removes them but damage, or another program.
    """
    found = inspect(connection)
    names = set(found.get_table_names())
    missing = []
    for table in Base.metadata.sorted_tables:
        if table.name not in names:
            missing.append(f"table {table.name}")
            continue
        columns = {column["name"] for column in found.get_columns(table.name)}
        missing += [f"column {each}" for each in table.columns if each.name not in columns]
        indexes = {index["name"] for index in found.get_indexes(table.name)}
        missing += [
            f"index {index.name}"
            for index in sorted(table.indexes, key=lambda each: str(each.name))
            if index.name not in indexes
        ]
    return missing


def wait_for_other_upgrades(connection: Connection) -> None:
    """Lock schema changes of other processes out until the transaction ends."""
    # On SQLite the transaction itself is the lock.
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(
            text("SELECT pg_advisory_xact_lock(:number)"), {"number": _ADVISORY_LOCK}
        )
        connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_WAIT}'"))


def migrate_to(connection: Connection, revision: str) -> None:
    """Migrate to a revision in an open transaction; `head` is the newest."""
    if _current_revision(connection) == (
        offdiag_migrations.head() if revision == "head" else revision
    ):
        return
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    # The configuration parser treats a percent sign as the start of a reference.
    folder = str(offdiag_migrations.FOLDER).replace("%", "%%")
    config.set_main_option("script_location", folder)
    try:
        with _one_at_a_time:
            command.upgrade(config, revision)
    except DBAPIError as error:
        raise _first_of_its_causes(error) from error


def _first_of_its_causes(error: DBAPIError) -> DBAPIError:
    """The original error, if cleaning up after it failed too.

    Alembic drops the copy of a table that it could not complete. If a full disk made SQLite roll
    everything back, that copy no longer exists, and the failing drop must not hide the full disk.
    """
    first, cause = error, error.__context__
    while cause is not None:
        if isinstance(cause, DBAPIError):
            first = cause
        cause = cause.__context__
    return first


def require_intact_references(connection: Connection) -> None:
    """Check foreign keys on SQLite, where they were off so that tables could be replaced."""
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if broken:
            tables = ", ".join(sorted({row[0] for row in broken}))
            raise SchemaMismatch(
                f"after the upgrade, rows of {tables} would refer to missing rows.",
                hint="Nothing was changed. This is a defect of offdiag; please report it.",
            )


def refuse_what_is_not_ours(
    database: Database, connection: Connection, state: SchemaState
) -> None:
    """Raise `SchemaMismatch` for a newer database and for a file of another program."""
    if state.is_newer:
        raise _newer(database, state)
    # A PostgreSQL database may well hold tables of others; a file belongs to one program.
    if database.dialect == "sqlite" and state.current is None:
        tables = inspect(connection).get_table_names()
        if tables:
            raise SchemaMismatch(
                f"{database.place} holds tables of another program ({tables[0]}, …).",
                hint="Name a new file; offdiag creates it.",
            )


def _require_current(database: Database, state: SchemaState) -> None:
    if state.is_newer:
        raise _newer(database, state)
    if not state.is_current:
        found = "is empty" if state.current is None else f"has schema {state.current}"
        raise SchemaMismatch(
            f"{database.place} {found}; this version of offdiag needs {state.head}.",
            hint="Run `offdiag db upgrade` once, while no older version is in use.",
        )


def _newer(database: Database, state: SchemaState) -> SchemaMismatch:
    return SchemaMismatch(
        f"{database.place} has schema {state.current}, which this version of offdiag "
        f"(up to {state.head}) does not know.",
        hint="Install a newer offdiag: pip install --upgrade offdiag",
    )
