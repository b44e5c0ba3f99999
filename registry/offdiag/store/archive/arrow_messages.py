"""Arrow streams of strangers: refused where a few bytes would become many in memory.

Our own streams are plain: one schema, then batches whose buffers are as large as what they
hold. Arrow has compressed batches too, and unpacks them while it reads, without a limit; so
the description of each batch is looked at before the batch is.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from offdiag.inputs.arrow_descriptions import describe_batch


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
