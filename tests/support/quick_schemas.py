"""What migrations make of an empty database, and what it says of its tables, remembered.

An import makes the schema of the archive in a new file, a restore in an emptied registry, and
both ask the database for its tables; many a command makes a registry. Making a schema statement
by statement of all revisions took half the time of the tests of archives; those of migrations go
through every revision.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from sqlalchemy import Connection, Table, event, text

import offdiag_migrations
from offdiag.store import schema
from offdiag.store.archive.rows import reflected_tables
from support.schema_text import catalog_text

_NOTHING_ELSE = ("BEGIN TRANSACTION;", "COMMIT;")

_made: dict[Hashable, list[str]] = {}
_asked: dict[Hashable, list[Table]] = {}


def remember_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test make and ask for schemas from what earlier ones of this process found."""
    migrate_anew = schema.migrate_to

    def migrate(connection: Connection, revision: str) -> None:
        # A test may have a chain of revisions of its own.
        wanted = (connection.dialect.name, offdiag_migrations.FOLDER, revision)
        if _described(connection):
            migrate_anew(connection, revision)
        elif wanted in _made:
            for statement in _made[wanted]:
                connection.exec_driver_sql(statement)
        elif connection.dialect.name == "sqlite":
            migrate_anew(connection, revision)
            _made[wanted] = _dumped(connection)
        else:
            with _noted(connection) as statements:
                migrate_anew(connection, revision)
            # Several statements in one message, which are parts of one transaction anyway.
            _made[wanted] = [";\n".join(statements)]

    def ask(connection: Connection) -> list[Table]:
        described = _described(connection)
        if described not in _asked:
            _asked[described] = reflected_tables(connection)
        return _asked[described]

    monkeypatch.setattr(schema, "migrate_to", migrate)
    monkeypatch.setattr("offdiag.store.archive.backup.reflected_tables", ask)


def _described(connection: Connection) -> str | tuple[Any, ...]:
    """All that a database says of its tables; nothing if it has none."""
    if connection.dialect.name == "postgresql":
        return catalog_text(connection)
    question = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
    return tuple(sorted(connection.scalars(text(question)), key=str))


@contextmanager
def _noted(connection: Connection) -> Iterator[list[str]]:
    """Everything that changes an empty database, none of which needs parameters."""
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if not statement.lstrip().startswith("SELECT"):
            assert not parameters, statement
            statements.append(statement)

    event.listen(connection, "before_cursor_execute", note)
    yield statements
    event.remove(connection, "before_cursor_execute", note)


def _dumped(connection: Connection) -> list[str]:
    file = cast(sqlite3.Connection, connection.connection.driver_connection)
    return [statement for statement in file.iterdump() if statement not in _NOTHING_ELSE]
