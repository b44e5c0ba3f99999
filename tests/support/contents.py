"""Everything a database holds, for comparing two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Table, func, select
from sqlalchemy.orm import Session

from offdiag.store.database import Database
from offdiag.store.models import Base

_CLOCK = {
    ("evaluation", "computed_at"),
    ("evaluation", "duration_s"),
    ("flag", "first_seen"),
    ("flag", "last_seen"),
    ("flag", "closed_at"),
    ("flag_event", "at"),
    ("comment", "at"),
    ("report_issue", "computed_at"),
    ("report_file", "content"),
    ("report_file", "sha256"),
    ("work", "due"),
    ("work", "created_at"),
    ("delivery", "created_at"),
    ("delivery", "sent_at"),
}
"""Columns that tell when something was computed and how long it took, not what."""
_ROW_NUMBERS = {
    "evaluation": {"id"},
    "confusion_matrix": {"evaluation_id"},
    "metric_value": {"evaluation_id"},
    "class_values": {"evaluation_id"},
    "flag": {"id", "evaluation_id"},
    "flag_event": {"id", "flag_id"},
    "comment": {"id", "flag_id"},
}
"""Columns of numbers that are given out in the order in which runs happen to be evaluated."""
_SIGNS_OF_LIFE = "heartbeat"
"""Tells which processes there are, not what the database holds."""


def contents(
    database: Database, *, in_any_order: bool = False
) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, blobs as digests, without the columns that only tell the time.

    With `in_any_order` also without the numbers of rows that depend on the order of work, and
    with places for other numbers of rows: a change that was rolled back leaves out the numbers
    that it had been given.
    """
    with database.read() as session:
        places = _places(session) if in_any_order else {}
        return {
            table.name: sorted(
                _rows(session, _columns(table, in_any_order=in_any_order), places), key=repr
            )
            for table in Base.metadata.sorted_tables
            if table.name != _SIGNS_OF_LIFE
        }


def _places(session: Session) -> dict[Column[Any], dict[Any, int]]:
    """By column of numbers of rows: the place of each number."""
    numbers = [
        table.autoincrement_column
        for table in Base.metadata.sorted_tables
        if table.autoincrement_column is not None
    ]
    return {
        column: {
            found: place
            for place, found in enumerate(session.scalars(select(column).order_by(column)))
        }
        for column in numbers
    }


def _rows(
    session: Session, columns: list[Column[Any]], places: dict[Column[Any], dict[Any, int]]
) -> Iterator[tuple[Any, ...]]:
    meant = [next((key.column for key in each.foreign_keys), each) for each in columns]
    placed = [places.get(column) for column in meant]
    for row in session.execute(select(*columns)):
        yield tuple(
            _plain(value) if of is None else of.get(value)
            for value, of in zip(row, placed, strict=True)
        )


def _plain(value: Any) -> Any:
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value


def count_rows(database: Database, table: type[Base]) -> int:
    """How many rows a table has."""
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def row_counts(database: Database) -> dict[str, int]:
    """How many rows each table has."""
    with database.read() as session:
        return {
            table.name: session.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
            if table.name != _SIGNS_OF_LIFE
        }


def _columns(table: Table, *, in_any_order: bool) -> list[Column[Any]]:
    left_out = _ROW_NUMBERS.get(table.name, set()) if in_any_order else set()
    return [
        column
        for column in table.columns
        if (table.name, column.name) not in _CLOCK and column.name not in left_out
    ]
