"""Columns of an Arrow stream that somebody sent."""

from __future__ import annotations

import struct

import pyarrow as pa

from offdiag.arrays.arrow_descriptions import describe_batch
from offdiag.arrays.bodies.columns import require_known_columns
from offdiag.arrays.bodies.limits import (
    require_few_bytes,
    require_few_columns,
    require_few_rows,
)
from offdiag.errors import InvalidInput, Malformed

_OF_DICTIONARY = {"dictionary": True, "record batch": False}


def read_arrow_body(body: bytes) -> dict[str, pa.Array]:
    """The columns of a stream of batches, compressed or not; every value of them is sound.

    Raises `Malformed` for what is no such stream, `TooLarge` before it is unpacked, and
    `InvalidInput` for other columns than those of a chunk.
    """
    try:
        _require_small(body)
        with pa.ipc.open_stream(body) as reader:
            require_known_columns(reader.schema.names)
            table = reader.read_all()
        table.validate(full=True)
        return {name: _plain(_whole(table.column(name))) for name in table.column_names}
    except InvalidInput:
        raise
    except (pa.ArrowException, ValueError, OSError, struct.error, OverflowError) as error:
        raise _damaged(error) from None


def _require_small(body: bytes) -> None:
    """Look at what every message promises. Nothing is unpacked or copied for that."""
    n_rows = n_bytes = 0
    for message in pa.ipc.MessageReader.open_stream(body):
        if message.type == "schema":
            require_few_columns(len(pa.ipc.read_schema(message)))
            continue
        if message.type not in _OF_DICTIONARY:
            raise ValueError(f"it holds a {message.type}")
        of_dictionary = _OF_DICTIONARY[message.type]
        found = describe_batch(
            message.metadata.to_pybytes(),
            memoryview(message.body or b""),
            of_dictionary=of_dictionary,
        )
        n_rows += 0 if of_dictionary else found.n_rows
        n_bytes += found.n_bytes
        require_few_rows(max(n_rows, found.n_rows))
        require_few_bytes(n_bytes)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """All of a column; Arrow would copy the one batch that most streams have."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _plain(column: pa.Array) -> pa.Array:
    """An extension type says how to show a value; what is stored is what counts."""
    storage = column.storage if isinstance(column, pa.ExtensionArray) else column
    # Concatenating no batches at all gives an array of chunks again.
    return storage.combine_chunks() if isinstance(storage, pa.ChunkedArray) else storage


def _damaged(error: Exception) -> Malformed:
    lines = str(error).splitlines()
    return Malformed(
        f"the body is no sound Arrow stream ({lines[0] if lines else type(error).__name__}).",
        field="body",
        hint="Write it with Arrow's stream writer, and send all of it.",
    )
