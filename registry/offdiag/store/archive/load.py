"""Filling an empty database of the right schema with the rows of an archive."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select

from offdiag.errors import InvalidInput
from offdiag.store.archive.file import ArchiveReader
from offdiag.store.archive.rows import decode_rows
from offdiag.store.archive.tables import reflected_tables, set_sequences

_ROWS_AT_ONCE = 2_000
_BLOBS_AT_ONCE = 16


def load_archive(connection: Connection, archive: ArchiveReader) -> None:
    """Insert every row of an archive. The database must be empty and of the archive's schema.

    Raises `InvalidInput` when the archive holds tables that such a registry does not have, or
    rows that it refuses.
    """
    tables = reflected_tables(connection)
    unknown = {part.table for part in archive.manifest.parts} - {table.name for table in tables}
    if unknown:
        raise InvalidInput(
            f"a registry of schema {archive.manifest.schema} has no table {min(unknown)}.",
            field="file",
            hint="Nothing was changed; the archive was made by something else than offdiag.",
        )
    for table in tables:
        rows = _rows_of(archive, table)
        size = _BLOBS_AT_ONCE if _has_blobs(table) else _ROWS_AT_ONCE
        while batch := list(islice(rows, size)):
            connection.execute(insert(table), batch)
        _require_all(connection, archive, table)
    set_sequences(connection, tables, dict(archive.manifest.sequences))


def _rows_of(archive: ArchiveReader, table: Table) -> Iterator[dict[str, Any]]:
    for part in archive.manifest.parts:
        if part.table == table.name:
            yield from decode_rows(table, archive.read(part))


def _has_blobs(table: Table) -> bool:
    return any(column.type.python_type is bytes for column in table.columns)


def _require_all(connection: Connection, archive: ArchiveReader, table: Table) -> None:
    stored = connection.scalar(select(func.count()).select_from(table))
    expected = archive.manifest.n_rows(table.name)
    if stored != expected:
        raise InvalidInput(
            f"the archive holds {stored} rows of {table.name}; its manifest says {expected}.",
            field="file",
            hint="Nothing was changed. Copy the file again, or use another one.",
        )
