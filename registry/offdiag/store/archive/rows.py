"""Tables of a database and their rows as Arrow streams, the same for both databases.

Streams come from strangers, so those that expand from a few bytes to many are refused.

Streams that offdiag writes are plain: one schema, then batches whose buffers are as large as their
content. Arrow also has compressed batches and unpacks them while reading, without a limit, so the
description of each batch is checked before the batch is read.
"""

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
    Connection,
    DateTime,
    Double,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    RowMapping,
    String,
    Table,
    TypeDecorator,
    inspect,
    select,
    text,
)

from offdiag.errors import InvalidInput
from offdiag.inputs.arrow_descriptions import describe_batch
from offdiag.store.engines import to_json
from offdiag.store.models import Base
from offdiag.store.models.base import Json


def plain_batches(data: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The batches of a stream, each valid and no larger than its bytes.

    Raises `ValueError` (as Arrow does) for any other schema, and for compressed or damaged
    batches.
    """
    messages = iter(pa.ipc.MessageReader.open_stream(data))
    first = next(messages, None)
    if first is None:
        raise ValueError("it is empty")
    if first.type != "schema" or not pa.ipc.read_schema(first).equals(schema):
        raise ValueError("the columns are others")
    for message in messages:
        if message.type != "record batch" or _is_compressed(message):
            raise ValueError("it is packed in a way that offdiag never uses")
        batch = pa.ipc.read_record_batch(message, schema)
        batch.validate(full=True)
        if batch.nbytes > len(data):
            raise ValueError("its columns share their bytes")
        yield batch


def _is_compressed(message: pa.ipc.Message) -> bool:
    # A message without buffers has no body.
    body = memoryview(message.body or b"")
    return describe_batch(message.metadata.to_pybytes(), body).is_compressed


PlainRow = Mapping[str, Any]
"""A row with documents as text and timestamps with a time zone."""

_ROWS_AT_ONCE = 1_000
_BYTES_OF_NUMBER = 8
_INSTANT = pa.timestamp("us", tz="UTC")
# The order matters: the types of some databases belong to several of these.
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
    return {column.name: _plain(column, row[column.name]) for column in table.columns}


def inserted_row(table: Table, row: PlainRow) -> dict[str, Any]:
    """A plain row with its documents parsed, ready to be inserted."""
    return {column.name: _from_plain(column, row[column.name]) for column in table.columns}


def size_of(row: PlainRow) -> int:
    """About how many bytes a row takes in an archive before compression."""
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

    Raises `InvalidInput` for anything that is not an Arrow stream, for other columns than those of
    the table, and for another number of rows than `n_rows`.
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
        hint="Nothing was changed; the archive was not made by offdiag.",
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


BOOKKEEPING = "alembic_version"
SIGNS_OF_LIFE = "heartbeat"
"""The table of running processes, whose rows would be wrong in any other database."""


def reflected_tables(connection: Connection) -> list[Table]:
    """offdiag's tables as they are in this database, referenced tables first.

    They are reflected and not taken from the models, because an archive may be of an older schema
    than the models describe. A PostgreSQL database may also hold tables of others, which are left
    alone.
    """
    known = set(Base.metadata.tables)
    found = set(inspect(connection).get_table_names()) & known
    metadata = MetaData()
    metadata.reflect(connection, only=sorted(found))
    tables = [table for table in metadata.sorted_tables if table.name in found]
    for table in tables:
        for column in table.columns:
            if isinstance(column.type, JSON):
                # A missing document is SQL NULL here, and would otherwise be the document null.
                column.type = Json
    return tables


def sequences(connection: Connection, tables: Sequence[Table]) -> dict[str, int]:
    """The last id that each table with a sequence handed out."""
    if connection.dialect.name == "sqlite":
        rows = connection.execute(text("SELECT name, seq FROM sqlite_sequence"))
        ours = {table.name for table in tables}
        return {name: seq for name, seq in rows if name in ours}
    found = {}
    for table in tables:
        sequence = _sequence_of(connection, table)
        if sequence is not None:
            last = connection.scalar(
                text("SELECT pg_sequence_last_value(CAST(:name AS regclass))"), {"name": sequence}
            )
            if last is not None:
                found[table.name] = int(last)
    return found


def set_sequences(
    connection: Connection, tables: Sequence[Table], last: Mapping[str, int]
) -> None:
    """Let each table continue counting after its last id, so that no id is handed out twice."""
    for table in tables:
        # SQLite also reports tables that have handed out nothing yet, as 0.
        if not last.get(table.name):
            continue
        if connection.dialect.name == "sqlite":
            values = {"name": table.name, "last": last[table.name]}
            changed = connection.execute(
                text("UPDATE sqlite_sequence SET seq = :last WHERE name = :name"), values
            )
            if changed.rowcount == 0:
                connection.execute(
                    text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), values
                )
            continue
        sequence = _sequence_of(connection, table)
        if sequence is not None:
            connection.execute(
                text("SELECT setval(CAST(:name AS regclass), :last)"),
                {"name": sequence, "last": last[table.name]},
            )


def holds_anything(connection: Connection, tables: Sequence[Table]) -> bool:
    """Whether any table except the heartbeats has a row."""
    return any(
        connection.execute(select(table).limit(1)).first() is not None
        for table in tables
        if table.name != SIGNS_OF_LIFE
    )


def _sequence_of(connection: Connection, table: Table) -> str | None:
    if "id" not in table.columns:
        return None
    name: str | None = connection.scalar(
        text("SELECT pg_get_serial_sequence(:table, 'id')"), {"table": table.name}
    )
    return name
