"""What migrations make of an empty database, and what it says of its tables, remembered.

An import makes the schema of the archive in a new file, a restore in an emptied registry, and
both ask the database for its tables. Making a schema statement by statement of all revisions
took half the time of the tests of archives; those of migrations go through every revision.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable
from typing import Any, cast

import pytest
from sqlalchemy import Connection, Table, text

import offdiag_migrations
from offdiag.store import schema
from offdiag.store.archive.rows import reflected_tables

_NOTHING_ELSE = ("BEGIN TRANSACTION;", "COMMIT;")

_OF_POSTGRES = """
    SELECT concat_ws(' ', attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod),
                     attnotnull) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0
    UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
"""

_made: dict[Hashable, list[str]] = {}
_asked: dict[Hashable, list[Table]] = {}


def remember_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test make and ask for schemas from what earlier ones of this process found."""
    migrate_anew = schema.migrate_to

    def migrate(connection: Connection, revision: str) -> None:
        # A test may have a chain of revisions of its own.
        wanted = (offdiag_migrations.FOLDER, revision)
        if connection.dialect.name != "sqlite" or _described(connection):
            migrate_anew(connection, revision)
        elif wanted in _made:
            for statement in _made[wanted]:
                connection.exec_driver_sql(statement)
        else:
            migrate_anew(connection, revision)
            _made[wanted] = _dumped(connection)

    def ask(connection: Connection) -> list[Table]:
        described = _described(connection)
        if described not in _asked:
            _asked[described] = reflected_tables(connection)
        return _asked[described]

    monkeypatch.setattr(schema, "migrate_to", migrate)
    monkeypatch.setattr("offdiag.store.archive.backup.reflected_tables", ask)


def _described(connection: Connection) -> tuple[Any, ...]:
    """All that a database says of its tables; nothing if it has none."""
    if connection.dialect.name == "sqlite":
        question = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    else:
        question = _OF_POSTGRES
    return tuple(sorted(connection.scalars(text(question)), key=str))


def _dumped(connection: Connection) -> list[str]:
    file = cast(sqlite3.Connection, connection.connection.driver_connection)
    return [statement for statement in file.iterdump() if statement not in _NOTHING_ELSE]
