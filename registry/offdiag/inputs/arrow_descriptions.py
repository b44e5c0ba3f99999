"""Reading what an Arrow message says about itself, without unpacking its content.

The description of a batch is a FlatBuffers table
(https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format), in which absent
fields take no space. Arrow unpacks compressed batches while it reads, without a limit, so their
unpacked size is read here first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_HEADER_OF_MESSAGE = 2
_LENGTH_OF_BATCH, _BUFFERS_OF_BATCH, _COMPRESSION_OF_BATCH = 0, 2, 3
_DATA_OF_DICTIONARY = 1
_BUFFER = struct.Struct("<qq")
_NOT_COMPRESSED = -1


@dataclass(frozen=True, slots=True)
class BatchDescription:
    """Number of rows of a batch, and the bytes of all its buffers after unpacking."""

    n_rows: int
    n_bytes: int
    is_compressed: bool


def describe_batch(
    description: bytes, body: memoryview, *, of_dictionary: bool = False
) -> BatchDescription:
    """Read the sizes from the description of a record batch or of a dictionary.

    Raises `ValueError` or `struct.error` if it cannot be read.
    """
    (message,) = struct.unpack_from("<I", description, 0)
    batch = _table_at(description, message, _HEADER_OF_MESSAGE)
    if of_dictionary:
        batch = _table_at(description, batch, _DATA_OF_DICTIONARY)
    place = _place_of_field(description, batch, _LENGTH_OF_BATCH)
    n_rows = 0 if place is None else struct.unpack_from("<q", description, place)[0]
    is_compressed = _place_of_field(description, batch, _COMPRESSION_OF_BATCH) is not None
    n_bytes = 0
    for start, size in _buffers(description, batch):
        n_bytes += _unpacked(body, start, size) if is_compressed and size else size
    if n_rows < 0 or n_bytes < 0:
        raise ValueError("a length is negative")
    return BatchDescription(n_rows, n_bytes, is_compressed)


def _buffers(description: bytes, batch: int) -> list[tuple[int, int]]:
    place = _place_of_field(description, batch, _BUFFERS_OF_BATCH)
    if place is None:
        return []
    vector = place + struct.unpack_from("<I", description, place)[0]
    (count,) = struct.unpack_from("<I", description, vector)
    if count * _BUFFER.size > len(description):
        raise ValueError("there are more buffers than it has room for")
    found = [
        _BUFFER.unpack_from(description, vector + 4 + at * _BUFFER.size) for at in range(count)
    ]
    if any(start < 0 or size < 0 for start, size in found):
        raise ValueError("a buffer offset is negative")
    return found


def _unpacked(body: memoryview, start: int, size: int) -> int:
    """The unpacked size of a buffer: its first eight bytes, unless these mean "not compressed"."""
    (promised,) = struct.unpack_from("<q", body, start)
    if promised == _NOT_COMPRESSED:
        return size
    if promised < 0:
        raise ValueError("a length is negative")
    return int(promised)


def _table_at(description: bytes, table: int, field: int) -> int:
    place = _place_of_field(description, table, field)
    if place is None:
        raise ValueError("it has no header")
    (offset,) = struct.unpack_from("<I", description, place)
    return int(place + offset)


def _place_of_field(description: bytes, table: int, field: int) -> int | None:
    """The position of a field of a FlatBuffers table, from its list of offsets; None if absent."""
    (back,) = struct.unpack_from("<i", description, table)
    offsets = table - back
    if not 0 <= offsets < len(description):
        raise ValueError("a table lies outside of it")
    (size,) = struct.unpack_from("<H", description, offsets)
    place = 4 + 2 * field
    if place >= size:
        return None
    (offset,) = struct.unpack_from("<H", description, offsets + place)
    return table + offset if offset else None
