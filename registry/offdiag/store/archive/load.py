"""Filling an empty database of the right schema with the rows of an archive."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Table, insert
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError

from offdiag.errors import InvalidInput
from offdiag.store.archive.reading import ArchiveReader
from offdiag.store.archive.rows import decode_rows
from offdiag.store.archive.tables import reflected_tables, set_sequences
from offdiag.store.archive.writing import Progress

_ROWS_AT_ONCE = 1_000


def load_archive(connection: Connection, archive: ArchiveReader, progress: Progress) -> None:
    """Insert every row of an archive. The database must be empty and of the archive's schema.

    Raises `InvalidInput` when the archive holds tables that such a registry does not have,
    rows that it refuses, or references to rows that are not there.
    """
    manifest = archive.manifest
    tables = reflected_tables(connection)
    unknown = manifest.rows_by_table.keys() - {table.name for table in tables}
    if unknown:
        raise _strange(f"a registry of schema {manifest.schema} has no table {min(unknown)}")
    n_done = 0
    for table in tables:
        for batch in _batches(archive, table):
            _insert(connection, table, batch)
            n_done += len(batch)
            progress(n_done, manifest.n_rows)
    _require_references(connection)
    set_sequences(connection, tables, manifest.sequences)


def _batches(archive: ArchiveReader, table: Table) -> Iterator[list[dict[str, Any]]]:
    for part in archive.manifest.parts:
        if part.table == table.name:
            rows = decode_rows(table, archive.read(part), n_rows=part.n_rows)
            while batch := list(islice(rows, _ROWS_AT_ONCE)):
                yield batch


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    try:
        connection.execute(insert(table), rows)
    except (IntegrityError, DataError) as error:
        raise _strange(f"a row of {table.name} is refused ({error.orig})") from error
    except DBAPIError:
        raise  # The disk or the network, which the database speaks of itself.
    except StatementError as error:
        raise _strange(f"a row of {table.name} is refused ({error.orig})") from error


def _require_references(connection: Connection) -> None:
    """On SQLite foreign keys are off while a schema is made, so they are looked at here."""
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise _strange(f"a row of {broken[0]} refers to a missing row of {broken[2]}")


def _strange(what: str) -> InvalidInput:
    return InvalidInput(
        f"{what}.",
        field="file",
        hint="Nothing was changed; the archive was made by something else than offdiag.",
    )
