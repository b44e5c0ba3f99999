"""Arrow streams of strangers: refused where a few bytes would become many in memory.

Our own streams are plain: one schema, then batches whose buffers are as large as what they
hold. Arrow has compressed batches too, and unpacks them while it reads, without a limit; so
the description of each batch is looked at before the batch is. It is a FlatBuffers table
(https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format), in which a
field that is absent has no place.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa

_HEADER_OF_MESSAGE = 2
_COMPRESSION_OF_BATCH = 3


def plain_batches(data: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The batches of a stream, each sound in itself and no larger than its bytes.

    Raises `ValueError` (as Arrow does) for any other schema, for compressed and for damaged
    batches.
    """
    messages = iter(pa.ipc.MessageReader.open_stream(data))
    first = next(messages, None)
    if first is None:
        raise ValueError("it is empty")
    if first.type != "schema" or not pa.ipc.read_schema(first).equals(schema):
        raise ValueError("the columns are others")
    for message in messages:
        if message.type != "record batch" or _is_compressed(message.metadata.to_pybytes()):
            raise ValueError("it is packed in a way that offdiag never uses")
        batch = pa.ipc.read_record_batch(message, schema)
        batch.validate(full=True)
        if batch.nbytes > len(data):
            raise ValueError("its columns share their bytes")
        yield batch


def _is_compressed(description: bytes) -> bool:
    (message,) = struct.unpack_from("<I", description, 0)
    header = _place_of_field(description, message, _HEADER_OF_MESSAGE)
    if header is None:
        raise ValueError("it has no header")
    (offset,) = struct.unpack_from("<I", description, header)
    return _place_of_field(description, header + offset, _COMPRESSION_OF_BATCH) is not None


def _place_of_field(description: bytes, table: int, field: int) -> int | None:
    """Where a field of a FlatBuffers table stands: its list of offsets says so."""
    (back,) = struct.unpack_from("<i", description, table)
    offsets = table - back
    (size,) = struct.unpack_from("<H", description, offsets)
    place = 4 + 2 * field
    if place >= size:
        return None
    (offset,) = struct.unpack_from("<H", description, offsets + place)
    return table + offset if offset else None
