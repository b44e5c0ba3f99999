"""Rows of a table as Arrow streams, the same from both databases."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Double,
    Float,
    Integer,
    LargeBinary,
    RowMapping,
    String,
    Table,
    TypeDecorator,
)

from offdiag.errors import InvalidInput
from offdiag.store.archive.arrow_messages import plain_batches
from offdiag.store.engines import to_json

PlainRow = Mapping[str, Any]
"""A row whose documents are text and whose instants have a zone."""

_ROWS_AT_ONCE = 1_000
_BYTES_OF_NUMBER = 8
_INSTANT = pa.timestamp("us", tz="UTC")
# The order matters: the types of some databases are several of these.
_ARROW_TYPES: tuple[tuple[type[Any], pa.DataType], ...] = (
    (Boolean, pa.bool_()),
    (Integer, pa.int64()),
    (Double, pa.float64()),
    (Float, pa.float64()),
    (DateTime, _INSTANT),
    (JSON, pa.large_string()),
    (String, pa.large_string()),
    (LargeBinary, pa.large_binary()),
)


def plain_row(table: Table, row: RowMapping) -> PlainRow:
    """A row as it is written."""
    return {column.name: _plain(column, row[column.name]) for column in table.columns}


def inserted_row(table: Table, row: PlainRow) -> dict[str, Any]:
    """A plain row as it is inserted, with its documents read."""
    return {column.name: _from_plain(column, row[column.name]) for column in table.columns}


def size_of(row: PlainRow) -> int:
    """About how many bytes a row takes in an archive before it is packed."""
    return sum(
        len(value) if isinstance(value, (bytes, str)) else _BYTES_OF_NUMBER
        for value in row.values()
    )


def encode_rows(table: Table, rows: Sequence[PlainRow]) -> bytes:
    """Rows of a table as one Arrow stream."""
    schema = _schema_of(table)
    arrays = [pa.array([row[field.name] for row in rows], field.type) for field in schema]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_batch(pa.record_batch(arrays, schema=schema))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode_rows(table: Table, data: bytes, *, n_rows: int) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow stream, ready to be inserted.

    Raises `InvalidInput` when it is none, has other columns than the table, or another number
    of rows than `n_rows`.
    """
    left = n_rows
    try:
        for batch in plain_batches(data, _schema_of(table)):
            left -= batch.num_rows
            if left < 0:
                break
            for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
                for row in batch.slice(start, _ROWS_AT_ONCE).to_pylist():
                    yield inserted_row(table, row)
    except (pa.ArrowException, struct.error, ValueError, OverflowError, OSError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise _unreadable(table, reason) from None
    except RecursionError:
        raise _unreadable(table, "a document is nested too deeply") from None
    if left:
        raise _unreadable(table, "their number is not that of the manifest")


def _unreadable(table: Table, why: str) -> InvalidInput:
    return InvalidInput(
        f"rows of {table.name} cannot be read: {why}.",
        field="file",
        hint="Nothing was changed; the archive was made by something else than offdiag.",
    )


def _schema_of(table: Table) -> pa.Schema:
    return pa.schema([(column.name, _arrow_type(column)) for column in table.columns])


def _arrow_type(column: Column[Any]) -> pa.DataType:
    plain = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    for kind, arrow in _ARROW_TYPES:
        if isinstance(plain, kind):
            return arrow
    raise TypeError(f"{column.table.name}.{column.name} has type {column.type!r}")


def _plain(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, JSON):
        return to_json(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


def _from_plain(column: Column[Any], value: Any) -> Any:
    if value is not None and isinstance(column.type, JSON):
        return json.loads(value)
    return value
