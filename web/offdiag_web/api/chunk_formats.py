"""The body of a chunk: unpacked within limits, compared with its digest, read by its format."""

from __future__ import annotations

import base64
import hashlib
import zlib

from flask import request
from pydantic import ValidationError
from werkzeug.exceptions import UnsupportedMediaType

from offdiag.domain.labels import LabelSet
from offdiag.errors import Malformed, TooLarge
from offdiag.inputs.bodies.columns import (
    MOST_BYTES_SENT,
    ChunkColumns,
    columns_of,
    require_few_rows,
)
from offdiag.inputs.bodies.formats import read_arrow_body, read_csv_body, read_parquet_body
from offdiag.records.ingest import Chunk
from offdiag_web.api.media_types import JSON
from offdiag_web.api.problems import first_problem
from offdiag_web.api.strict_json import read_json

MOST_BYTES = MOST_BYTES_SENT
_MOST_TEXT = 32 << 20
"""Bytes of text: JSON and CSV take many times their size while they are read."""

_READERS = {
    "application/vnd.apache.arrow.stream": read_arrow_body,
    "application/vnd.apache.parquet": read_parquet_body,
}
_CSV = "text/csv"
_TEXTS = (_CSV, JSON)
MEDIA_TYPES = (*_READERS, *_TEXTS)


def sent_columns(labels: LabelSet) -> ChunkColumns:
    """The columns in the body of this request, for a run with such labels.

    Raises `UnsupportedMediaType` for another format or encoding, `TooLarge`, `Malformed` for a
    body that is damaged, and `InvalidInput` for one that cannot be meant.
    """
    kind = request.mimetype
    if kind not in MEDIA_TYPES:
        raise UnsupportedMediaType(f"A chunk is one of {', '.join(MEDIA_TYPES)}.")
    body = _unpacked(_sent(), _MOST_TEXT if kind in _TEXTS else MOST_BYTES)
    if kind == JSON:
        return _from_json(body)
    found = read_csv_body(body, labels) if kind == _CSV else _READERS[kind](body)
    return columns_of(found, labels)


def _from_json(body: bytes) -> ChunkColumns:
    read_json(body)
    try:
        chunk = Chunk.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise first_problem(error, Chunk) from None
    require_few_rows(_n_rows(chunk))
    return ChunkColumns(
        y_pred=chunk.y_pred,
        y_true=chunk.y_true,
        y_score=chunk.y_score,
        sample_ids=chunk.sample_ids,
        slices=dict(chunk.slices),
    )


def _n_rows(chunk: Chunk) -> int:
    if chunk.y_pred is not None:
        return len(chunk.y_pred)
    columns = chunk.y_score.values() if isinstance(chunk.y_score, dict) else [chunk.y_score or ()]
    return max(map(len, columns), default=0)


def _sent() -> bytes:
    """The body as it came, read at once: left alone, the library reads 64 KiB at a time."""
    length = request.content_length
    if not length:
        return request.get_data(cache=False)
    found: bytes = request.stream.read(length)
    return found if len(found) == length else found + request.stream.read()


def _unpacked(sent: bytes, most: int) -> bytes:
    _require_digest(sent)
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding == "gzip":
        return gunzipped(sent, most)
    if encoding != "identity":
        raise UnsupportedMediaType(f"The encoding {encoding!r} is not known; gzip is.")
    if len(sent) > most:
        raise _too_large(most)
    return sent


def gunzipped(sent: bytes, most: int) -> bytes:
    """What a gzip stream holds. Raises `TooLarge` before more than `most` bytes are unpacked,
    and `Malformed` for a stream that is damaged, cut, or followed by something."""
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        body = unpacking.decompress(sent, most + 1)
    except zlib.error as error:
        raise _damaged(str(error)) from None
    if len(body) > most:
        raise _too_large(most)
    if not unpacking.eof or unpacking.unused_data:
        raise _damaged("it is cut short, or something follows it")
    return body


def _require_digest(sent: bytes) -> None:
    """Compare the body with its `Content-Digest` (RFC 9530), where there is one in SHA-256."""
    for entry in request.headers.get("Content-Digest", "").split(","):
        name, _, value = entry.strip().partition("=")
        if name != "sha-256":
            continue
        found = base64.b64encode(hashlib.sha256(sent).digest()).decode()
        if value != f":{found}:":
            raise Malformed(
                "the body is not the one its digest was taken of.",
                field="Content-Digest",
                hint="It was damaged on its way; send it again.",
            )


def _damaged(why: str) -> Malformed:
    return Malformed(
        f"the body cannot be unpacked ({why}).",
        field="body",
        hint="Send it complete, or without Content-Encoding.",
    )


def _too_large(most: int) -> TooLarge:
    return TooLarge(
        f"the body has more than {most:,} bytes.",
        field="body",
        hint="Send fewer rows in one chunk; Arrow takes the least room.",
    )
