"""Writing rows into an archive, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, LargeBinary, Select, Table, func, select, text

from offdiag.store.archive.rows import PlainRow, encode_rows, plain_row, size_of
from offdiag.store.archive.writing import ArchiveWriter

_MOST_ROWS = 20_000
_MOST_BYTES = 16 << 20
_ROWS_AT_ONCE = 1_000


def lift_time_limits(connection: Connection) -> None:
    """Let this transaction take as long as it needs: it reads everything."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def count_rows(connection: Connection, statements: Iterable[Select[Any]]) -> int:
    """Rows of all these statements."""
    return sum(
        connection.scalar(select(func.count()).select_from(statement.subquery())) or 0
        for statement in statements
    )


def dump_table(
    connection: Connection, table: Table, statement: Select[Any], archive: ArchiveWriter
) -> None:
    """Write the rows of a statement over a table, by primary key."""
    for part in _parts(_rows(connection, table, statement)):
        archive.add(table.name, encode_rows(table, part), n_rows=len(part))


def rows_by_key(connection: Connection, table: Table) -> Iterator[PlainRow]:
    """All rows of a table as they are written, by primary key."""
    yield from _rows(connection, table, select(table))


def _rows(connection: Connection, table: Table, statement: Select[Any]) -> Iterator[PlainRow]:
    ordered = statement.order_by(*table.primary_key.columns)
    at_once = _rows_at_once(connection, table, statement)
    found = connection.execute(ordered.execution_options(yield_per=at_once)).mappings()
    return (plain_row(table, row) for row in found)


def _rows_at_once(connection: Connection, table: Table, statement: Select[Any]) -> int:
    """As many rows as fit into a part: the scores of a chunk may have a hundred megabytes."""
    blobs = [column.name for column in table.columns if isinstance(column.type, LargeBinary)]
    if not blobs:
        return _ROWS_AT_ONCE
    rows = statement.subquery()
    sizes = [func.coalesce(func.length(rows.c[name]), 0) for name in blobs]
    largest = connection.scalar(select(func.max(sum(sizes[1:], start=sizes[0])))) or 1
    return max(1, min(_ROWS_AT_ONCE, _MOST_BYTES // max(largest, 1)))


def _parts(rows: Iterable[PlainRow]) -> Iterator[list[PlainRow]]:
    part: list[PlainRow] = []
    n_bytes = 0
    for row in rows:
        part.append(row)
        n_bytes += size_of(row)
        if len(part) == _MOST_ROWS or n_bytes >= _MOST_BYTES:
            yield part
            part, n_bytes = [], 0
    if part:
        yield part
