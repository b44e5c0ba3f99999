"""Whether a database gives back the rows of an archive, value by value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table

from offdiag.errors import Conflict
from offdiag.store.archive.dump import rows_by_key
from offdiag.store.archive.reading import ArchiveReader
from offdiag.store.archive.rows import decode_rows, inserted_row
from offdiag.store.archive.writing import Progress


def require_same_rows(
    connection: Connection, tables: Iterable[Table], archive: ArchiveReader, progress: Progress
) -> None:
    """Read every row back and raise `Conflict`, naming tables, where one is not as it was.

    Rows are compared by SHA-256 over their values, in the order of their keys. The order of
    names in a document is none of its values: PostgreSQL keeps its own.
    """
    n_done, different = 0, []
    for table in tables:
        n_rows = archive.manifest.rows_by_table.get(table.name, 0)
        given = _digest(_rows_of(archive, table))
        kept = _digest(inserted_row(table, row) for row in rows_by_key(connection, table))
        if given != kept:
            different.append(table.name)
        n_done += n_rows
        progress(n_done, archive.manifest.n_rows)
    if different:
        raise Conflict(
            f"the database gives back other rows than it was given, in {', '.join(different)}.",
            field="database",
            hint="Nothing was copied. Numbers beyond 1e15 in params are the likely reason; "
            "`offdiag db backup` and `offdiag db restore` move a registry without this check.",
        )


def _rows_of(archive: ArchiveReader, table: Table) -> Iterator[Mapping[str, Any]]:
    for part in archive.manifest.parts:
        if part.table == table.name:
            yield from decode_rows(table, archive.read(part), n_rows=part.n_rows)


def _digest(rows: Iterable[Mapping[str, Any]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        for name, value in row.items():
            content = value if isinstance(value, bytes) else _text(value).encode()
            digest.update(f"{name} {type(value).__name__} {len(content)} ".encode())
            digest.update(content)
    return digest.hexdigest()


def _text(value: object) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True)
    return value.isoformat() if isinstance(value, datetime) else repr(value)
