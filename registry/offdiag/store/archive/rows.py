"""Rows of a table as Arrow streams, the same from both databases."""

from __future__ import annotations

import json
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
    String,
    Table,
    TypeDecorator,
)

from offdiag.errors import InvalidInput
from offdiag.store.engines import to_json

Row = Mapping[str, Any]

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


def encode_rows(table: Table, rows: Sequence[Row]) -> bytes:
    """Rows of a table as one Arrow stream."""
    fields = [pa.field(column.name, _arrow_type(column)) for column in table.columns]
    arrays = [
        pa.array([_to_arrow(column, row[column.name]) for row in rows], field.type)
        for column, field in zip(table.columns, fields, strict=True)
    ]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema(fields)) as stream:
        stream.write_batch(pa.record_batch(arrays, schema=pa.schema(fields)))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode_rows(table: Table, data: bytes) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow stream, ready to be inserted.

    Raises `InvalidInput` when they do not have the columns of the table.
    """
    try:
        found = pa.ipc.open_stream(data).read_all()
    except pa.ArrowException as error:
        raise InvalidInput(
            f"rows of {table.name} cannot be read: {error}.",
            field="file",
            hint="Nothing was changed; the archive was made by something else than offdiag.",
        ) from None
    if set(found.column_names) != {column.name for column in table.columns}:
        raise InvalidInput(
            f"rows of {table.name} have other columns than a registry of that schema.",
            field="file",
            hint="Nothing was changed; the archive was made by something else than offdiag.",
        )
    for batch in found.to_batches():
        for row in batch.to_pylist():
            yield {column.name: _from_arrow(column, row[column.name]) for column in table.columns}


def _arrow_type(column: Column[Any]) -> pa.DataType:
    plain = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    for kind, arrow in _ARROW_TYPES:
        if isinstance(plain, kind):
            return arrow
    raise TypeError(f"{column.table.name}.{column.name} has type {column.type!r}")


def _to_arrow(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, JSON):
        return to_json(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


def _from_arrow(column: Column[Any], value: Any) -> Any:
    if value is not None and isinstance(column.type, JSON):
        return json.loads(value)
    return value
