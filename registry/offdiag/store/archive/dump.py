"""Writing rows into an archive, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, Table, text

from offdiag.store.archive.file import ArchiveWriter
from offdiag.store.archive.rows import Row, encode_rows

_ROWS_IN_PART = 20_000
_BYTES_IN_PART = 16 << 20


def lift_time_limits(connection: Connection) -> None:
    """Let this transaction take as long as it needs: it reads everything."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def dump_table(
    connection: Connection, table: Table, statement: Select[Any], archive: ArchiveWriter
) -> None:
    """Write the rows of a statement over a table, in its order."""
    found = connection.execute(statement.execution_options(yield_per=64)).mappings()
    for part in _parts(found):
        archive.add(table.name, encode_rows(table, part), n_rows=len(part))


def _parts(rows: Iterable[RowMapping]) -> Iterator[list[Row]]:
    part: list[Row] = []
    n_bytes = 0
    for found in rows:
        row = dict(found)
        part.append(row)
        n_bytes += sum(len(value) for value in row.values() if isinstance(value, bytes))
        if len(part) == _ROWS_IN_PART or n_bytes >= _BYTES_IN_PART:
            yield part
            part, n_bytes = [], 0
    if part:
        yield part
