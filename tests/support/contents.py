"""Everything a database holds, for comparing two of them."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import Table, func, select

from offdiag.store.database import Database
from offdiag.store.models import Base

_CLOCK = {
    ("evaluation", "computed_at"),
    ("evaluation", "duration_s"),
    ("flag", "first_seen"),
    ("flag", "last_seen"),
    ("flag_event", "at"),
    ("report_issue", "computed_at"),
    ("report_file", "content"),
    ("report_file", "sha256"),
    ("delivery", "created_at"),
    ("delivery", "sent_at"),
}
"""Columns that tell when something was computed and how long it took, not what."""
_SIGNS_OF_LIFE = "heartbeat"
"""Tells which processes there are, not what the database holds."""


def contents(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, blobs as digests, without the columns that only tell the time."""
    with database.read() as session:
        return {
            table.name: sorted(
                (_plain(row) for row in session.execute(select(*_columns(table)))), key=repr
            )
            for table in Base.metadata.sorted_tables
            if table.name != _SIGNS_OF_LIFE
        }


def count_rows(database: Database, table: type[Base]) -> int:
    """How many rows a table has."""
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def _columns(table: Table) -> list[Any]:
    return [column for column in table.columns if (table.name, column.name) not in _CLOCK]


def _plain(row: Any) -> tuple[Any, ...]:
    return tuple(
        hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value for value in row
    )
