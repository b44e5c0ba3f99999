"""Sample identifiers as blobs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from offdiag.inputs.ids import SampleIds
from offdiag.store import codec


def encode_ids(ids: SampleIds) -> bytes:
    """Bytes of identifiers, without their kind, which is a column beside the blob."""
    if isinstance(ids.values, np.ndarray):
        return codec.encode_int_ids(ids.values)
    return codec.encode_text_ids(ids.values.to_pylist())


def decode_ids(blob: bytes, kind: str) -> SampleIds:
    """Identifiers of the stated kind. Raises ValueError on corrupt bytes."""
    if kind == "int":
        return SampleIds("int", codec.decode_int_ids(blob))
    bounds, utf8 = codec.text_id_parts(blob)
    # The bytes are those of an Arrow array already, so no text is made of them here.
    texts = pa.LargeStringArray.from_buffers(
        len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(utf8)
    )
    texts.validate(full=True)
    return SampleIds("text", texts)
