"""A whole registry as one archive, and an archive as a whole registry."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

import offdiag_migrations
from offdiag.errors import Conflict, SchemaMismatch
from offdiag.store import schema
from offdiag.store.archive.dump import dump_table, lift_time_limits
from offdiag.store.archive.file import opened_archive, written_archive
from offdiag.store.archive.load import load_archive
from offdiag.store.archive.manifest import Manifest
from offdiag.store.archive.tables import (
    BOOKKEEPING,
    has_rows,
    in_insertion_order,
    reflected_tables,
    sequences,
)
from offdiag.store.database import Database


def write_backup(database: Database, path: Path, *, written_by: str, now: datetime) -> None:
    """Write everything as it is at one moment, while others go on working.

    Raises `SchemaMismatch` for a database without tables of ours or of a newer schema, and
    `Conflict` or `InvalidInput` for a file that cannot be made.
    """
    state = schema.check(database)
    if state.current is None or state.is_newer:
        raise SchemaMismatch(
            f"{database.place} holds nothing that this version of offdiag could back up.",
            hint="`offdiag db check` says what it is.",
        )
    facts: dict[str, Any] = {
        "kind": "backup",
        "schema": state.current,
        "created_at": now.isoformat(),
        "written_by": written_by,
        "subject": database.place,
    }
    with database.read() as session:
        connection = session.connection()
        lift_time_limits(connection)
        tables = reflected_tables(connection)
        facts["sequences"] = sequences(connection, tables)
        with written_archive(path, facts) as archive:
            for table in tables:
                dump_table(connection, table, in_insertion_order(table), archive)


def restore_backup(database: Database, path: Path, *, force: bool) -> Manifest:
    """Fill a database with a backup and bring it to the schema of this version.

    A database that holds anything is only replaced with `force`. All of it is one transaction:
    whatever goes wrong, the database is as it was. Raises `InvalidInput` for a file that is no
    whole backup, `Conflict` for a database that holds something, and `SchemaMismatch` for a
    backup or a database of a newer schema.
    """
    with opened_archive(path, "backup") as archive:
        require_known_schema(path, archive.manifest.schema)
        with database.migrate() as connection:
            schema.wait_for_other_upgrades(connection)
            lift_time_limits(connection)
            schema.refuse_what_is_not_ours(database, connection, schema.state_of(connection))
            _clear(database, connection, force=force)
            schema.migrate_to(connection, archive.manifest.schema)
            load_archive(connection, archive)
            schema.migrate_to(connection, "head")
            schema.require_intact_references(connection)
        return archive.manifest


def require_known_schema(path: Path, revision: str) -> None:
    """Raise `SchemaMismatch` for an archive that a newer offdiag has written."""
    if revision not in offdiag_migrations.revisions():
        raise SchemaMismatch(
            f"{path.name} has schema {revision}, which this version of offdiag "
            f"(up to {offdiag_migrations.head()}) does not know.",
            hint="Install a newer offdiag: pip install --upgrade offdiag",
        )


def _clear(database: Database, connection: Connection, *, force: bool) -> None:
    tables = reflected_tables(connection)
    if has_rows(connection, tables) and not force:
        raise Conflict(
            f"{database.place} is not empty.",
            field="database",
            hint="Name an empty database, or give --force to replace what it holds.",
        )
    for table in reversed(tables):
        table.drop(connection)
    connection.execute(text(f"DROP TABLE IF EXISTS {BOOKKEEPING}"))
