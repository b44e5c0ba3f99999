"""A whole registry as one archive, and an archive as a whole registry."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, select, text, update

import offdiag_migrations
from offdiag.errors import Conflict, SchemaMismatch
from offdiag.store import schema
from offdiag.store.archive.comparing import require_same_rows
from offdiag.store.archive.dump import count_rows, dump_table, lift_time_limits
from offdiag.store.archive.load import load_archive
from offdiag.store.archive.manifest import Manifest
from offdiag.store.archive.reading import opened_archive, require_room
from offdiag.store.archive.tables import (
    BOOKKEEPING,
    SIGNS_OF_LIFE,
    holds_anything,
    reflected_tables,
    sequences,
)
from offdiag.store.archive.writing import Progress, written_archive
from offdiag.store.bi.publishing import put_up, take_down
from offdiag.store.clock import database_now
from offdiag.store.database import Database
from offdiag.store.file_access import require_local, require_writable
from offdiag.store.models import WorkRow


def write_backup(
    database: Database, path: Path, *, written_by: str, now: datetime, progress: Progress
) -> Manifest:
    """Write everything as it is at one moment, while others go on working.

    Raises `SchemaMismatch` for a database without tables of ours or of a newer schema, and
    `Conflict`, `StorageFull` or `InvalidInput` for a file that cannot be made.
    """
    if schema.check(database).current is None:
        # Reading an SQLite file that is not there would make one.
        raise _nothing_to_back_up(database)
    with database.read() as session:
        connection = session.connection()
        lift_time_limits(connection)
        state = schema.state_of(connection)
        if state.current is None or state.is_newer:
            raise _nothing_to_back_up(database)
        tables = [t for t in reflected_tables(connection) if t.name != SIGNS_OF_LIFE]
        rows = {table: select(table) for table in tables}
        manifest = Manifest(
            kind="backup",
            schema=state.current,
            created_at=now.isoformat(),
            written_by=written_by,
            subject=database.place,
            sequences=sequences(connection, tables),
        )
        n_rows = count_rows(connection, rows.values())
        with written_archive(path, manifest, n_rows=n_rows, progress=progress) as archive:
            for table, statement in rows.items():
                dump_table(connection, table, statement, archive)
        return archive.manifest


def restore_backup(
    database: Database, path: Path, *, force: bool, progress: Progress, is_checked: bool = False
) -> Manifest:
    """Fill a database with a backup and bring it to the schema of this version.

    A database that holds anything is only replaced with `force`. All of it is one transaction:
    whatever goes wrong, the database is as it was. Work that waited in the backup waits from
    now on, so that nobody takes it for forgotten. With `is_checked` every row is read back
    before anything is committed, and compared with the backup by digest.

    Raises `InvalidInput` for a file that is no whole backup, `Conflict` for a database that
    holds something or gives back other rows, `SchemaMismatch` for a backup or a database of a
    newer schema, and `StorageFull` where there is no room.
    """
    with opened_archive(path, "backup") as archive:
        require_known_schema(path, archive.manifest.schema)
        if database.path is not None and database.path.parent.is_dir():
            require_local(database.path)
            require_writable(database.path)
            require_room(database.path.parent, archive.manifest)
        with database.migrate() as connection:
            schema.wait_for_other_upgrades(connection)
            lift_time_limits(connection)
            schema.refuse_what_is_not_ours(database, connection, schema.state_of(connection))
            _clear(database, connection, force=force)
            schema.migrate_to(connection, archive.manifest.schema)
            load_archive(connection, archive, progress)
            if is_checked:
                tables = reflected_tables(connection)
                require_same_rows(connection, tables, archive, progress)
            schema.migrate_to(connection, "head")
            schema.require_intact_references(connection)
            put_up(connection)
            _wait_from_now_on(connection)
        return archive.manifest


def is_empty(database: Database) -> bool:
    """Whether restoring would replace nothing."""
    if schema.check(database).current is None:
        return True
    with database.read() as session:
        connection = session.connection()
        return not holds_anything(connection, reflected_tables(connection))


def require_known_schema(path: Path, revision: str) -> None:
    """Raise `SchemaMismatch` for an archive that a newer offdiag has written."""
    if revision not in offdiag_migrations.revisions():
        raise SchemaMismatch(
            f"{path.name} has schema {revision}, which this version of offdiag "
            f"(up to {offdiag_migrations.head()}) does not know.",
            hint="Install a newer offdiag: pip install --upgrade offdiag",
        )


def _nothing_to_back_up(database: Database) -> SchemaMismatch:
    return SchemaMismatch(
        f"{database.place} holds nothing that this version of offdiag could back up.",
        hint="`offdiag db check` says what it is.",
    )


def _clear(database: Database, connection: Connection, *, force: bool) -> None:
    tables = reflected_tables(connection)
    if not force and holds_anything(connection, tables):
        raise Conflict(
            f"{database.place} is not empty.",
            field="database",
            hint="Name an empty database, or give --force to replace what it holds.",
        )
    take_down(connection)
    for table in reversed(tables):
        table.drop(connection)
    connection.execute(text(f"DROP TABLE IF EXISTS {BOOKKEEPING}"))


def _wait_from_now_on(connection: Connection) -> None:
    now = database_now()
    for state, moment in (("todo", WorkRow.due), ("doing", WorkRow.lease_until)):
        connection.execute(
            update(WorkRow).where(WorkRow.state == state, moment < now).values({moment: now})
        )
