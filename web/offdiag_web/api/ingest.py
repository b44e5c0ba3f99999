"""API operations that log runs: open a run, send its chunks, finish it.

Every step can be repeated. The body of a chunk is decompressed within limits, checked against its
digest, and read according to its format.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Sequence, Sized
from dataclasses import replace

from flask import request
from werkzeug.exceptions import UnsupportedMediaType

from offdiag.domain.access import Role
from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import label_notes
from offdiag.domain.runs import RunFacts
from offdiag.errors import Malformed, TooLarge
from offdiag.inputs.bodies.columns import (
    MOST_BYTES_SENT,
    ChunkColumns,
    columns_of,
    require_few_cells,
    require_few_rows,
)
from offdiag.inputs.bodies.formats import read_arrow_body, read_csv_body, read_parquet_body
from offdiag.inputs.counted_samples import counted_slice_notes
from offdiag.inputs.labels import hold_sets
from offdiag.metrics.confusion import notes_on_matrix
from offdiag.records.ingest import (
    Chunk,
    ClosedRun,
    ClosedRuns,
    Closing,
    NewCounts,
    NewMatrix,
    NewPairedCounts,
    NewRun,
    OpenedRun,
    StoredChunk,
    Text,
)
from offdiag.records.runs.run import labels_document
from offdiag.services.ingest.chunks import PutOutcome, put_columns
from offdiag.services.ingest.finish_run import finish_run
from offdiag.services.ingest.log_counts import log_counts as store_counts
from offdiag.services.ingest.log_counts import log_matrix as store_matrix
from offdiag.services.ingest.log_paired_counts import log_paired_counts as store_paired_counts
from offdiag.services.ingest.log_predictions import open_run as open_stored_run
from offdiag.store.runs import RunRecord
from offdiag_web.api.operations import operation, resource
from offdiag_web.api.requests import JSON, read_document
from offdiag_web.app.context import current_registry, requires, signed_in_user

MOST_BYTES = MOST_BYTES_SENT
_MOST_TEXT = 32 << 20
"""Most bytes of a text body: JSON and CSV take many times their size while they are read."""

_READERS = {
    "application/vnd.apache.arrow.stream": read_arrow_body,
    "application/vnd.apache.parquet": read_parquet_body,
}
_CSV = "text/csv"
_TEXTS = (_CSV, JSON)
MEDIA_TYPES = (*_READERS, *_TEXTS)


def sent_columns(labels: LabelSet) -> ChunkColumns:
    """The columns in the body of this request, for a run with these labels.

    Raises `UnsupportedMediaType` for another format or encoding, `TooLarge`, `Malformed` for a
    damaged body, and `InvalidInput` for values that cannot be used.
    """
    kind = request.mimetype
    if kind not in MEDIA_TYPES:
        raise UnsupportedMediaType(f"A chunk is one of {', '.join(MEDIA_TYPES)}.")
    body = _unpacked(_sent(), _MOST_TEXT if kind in _TEXTS else MOST_BYTES)
    if kind == JSON:
        chunk = read_document(body, Chunk)
        require_few_rows(_n_rows(chunk))
        columns = ChunkColumns(
            y_pred=chunk.y_pred,
            y_true=chunk.y_true,
            y_score=chunk.y_score,
            sample_ids=chunk.sample_ids,
            slices=dict(chunk.slices),
            sample_weight=chunk.sample_weight,
        )
    else:
        found = read_csv_body(body, labels) if kind == _CSV else _READERS[kind](body)
        columns = columns_of(found, labels)
    for given in (columns.y_pred, columns.y_true):
        if isinstance(given, Sized) and hold_sets(given):
            require_few_cells(len(given), len(labels))
    return columns


def _n_rows(chunk: Chunk) -> int:
    if chunk.y_pred is not None:
        return len(chunk.y_pred)
    columns = chunk.y_score.values() if isinstance(chunk.y_score, dict) else [chunk.y_score or ()]
    return max(map(len, columns), default=0)


def _sent() -> bytes:
    """The body as received, read at once: by default, the library reads 64 KiB at a time."""
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
    """The content of a gzip stream. Raises `TooLarge` before more than `most` bytes are unpacked,
    and `Malformed` for a stream that is damaged, truncated, or followed by other bytes."""
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
    """Compare the body with its `Content-Digest` (RFC 9530) if that has a SHA-256 digest."""
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


_MATRIX_BYTES = 64 << 20
"""Ten thousand classes would need more; such a run is logged with its predictions."""

blueprint = resource("ingest")


def _by_account(facts: RunFacts) -> RunFacts:
    """The facts of a run, with the account that logs it as its author where there are accounts."""
    who = signed_in_user()
    return replace(facts, author=who.account) if who.is_signed_in else facts


@operation(blueprint, "POST", "/runs", statuses=(201,))
@requires(Role.LOGGER)
def open_run(json: NewRun) -> tuple[OpenedRun, int]:
    """Open a run for chunks, or return the one opened with the same client key."""
    opened = open_stored_run(
        current_registry().database,
        facts=_by_account(json.facts()),
        dataset=json.dataset,
        labels=json.label_set(),
        positive_label=None if json.positive_label is None else str(json.positive_label),
        hierarchy=json.hierarchy,
    )
    dataset = opened.dataset
    answer = OpenedRun(
        id=opened.run.id,
        state=opened.run.state.value,
        project=dataset.project,
        dataset=dataset.name,
        task=dataset.task.value,
        labels=labels_document(dataset.labels),
        positive_label=dataset.positive_label,
        positive_by_convention=dataset.positive_by_convention,
        notices=[*dataset.notes, *label_notes(dataset.labels.names)],
    )
    return answer, 201


@operation(
    blueprint,
    "PUT",
    "/runs/<run:run_id>/chunks/<int:seq>",
    statuses=(200, 201),
    sent=MEDIA_TYPES,
    most_bytes=MOST_BYTES,
)
@requires(Role.LOGGER)
def put_chunk(run_id: str, seq: int) -> tuple[StoredChunk, int]:
    """Put one chunk into an open run, numbered from 0.

    Sending the same content under the same number again is accepted; other content is a conflict.
    """
    put = put_columns(current_registry().database, run_id, seq, sent_columns)
    was_there = put.outcome is PutOutcome.ALREADY_THERE
    answer = StoredChunk(run_id=run_id, seq=seq, was_there=was_there, notices=list(put.notes))
    return answer, 200 if was_there else 201


@operation(blueprint, "POST", "/runs/<run:run_id>/finish")
@requires(Role.LOGGER)
def finish(run_id: str, json: Closing) -> ClosedRun:
    """Close a run. It is queued for evaluation and never changes after that."""
    notes: list[str] = []
    database = current_registry().database
    run = finish_run(database, run_id, n_chunks=json.n_chunks, tell=notes.extend)
    return _closed(run, notes=notes)


@operation(blueprint, "POST", "/matrices", statuses=(201,), most_bytes=_MATRIX_BYTES)
@requires(Role.LOGGER)
def log_matrix(json: NewMatrix) -> tuple[ClosedRun, int]:
    """Store a confusion matrix as a run. Its orientation is required."""
    notes: list[str] = []
    run = store_matrix(
        current_registry().database,
        facts=_by_account(json.facts()),
        dataset=json.dataset,
        given=json.given(),
        tell=notes.extend,
    )
    notes += notes_on_matrix(json.matrix)
    return _closed(run, json.labels or (), notes=notes), 201


@operation(blueprint, "POST", "/counts", statuses=(201,), most_bytes=_MATRIX_BYTES)
@requires(Role.LOGGER)
def log_counts(json: NewCounts) -> tuple[ClosedRun, int]:
    """Store counts of samples of each kind as a run."""
    notes: list[str] = []
    run = store_counts(
        current_registry().database,
        facts=_by_account(json.facts()),
        dataset=json.dataset,
        given=json.given(),
        tell=notes.extend,
    )
    notes += counted_slice_notes(json.slices, json.sizes)
    return _closed(run, json.labels or [*json.actual, *json.predicted], notes=notes), 201


@operation(blueprint, "POST", "/paired-counts", statuses=(201,), most_bytes=_MATRIX_BYTES)
@requires(Role.LOGGER)
def log_paired_counts(json: NewPairedCounts) -> tuple[ClosedRuns, int]:
    """Store several runs as counts of samples of each kind that the runs have in common. They can
    then be compared sample by sample, like runs with predictions.
    """
    notes: list[str] = []
    runs = store_paired_counts(
        current_registry().database,
        runs=[_by_account(facts) for facts in json.facts()],
        dataset=json.dataset,
        given=json.given(),
        tell=notes.extend,
    )
    notes += counted_slice_notes(json.tables[0].slices, json.tables[0].sizes)
    closed = [_closed(run, json.labels or (), notes=notes) for run in runs]
    return ClosedRuns(runs=closed), 201


def _closed(
    run: RunRecord, classes: Sequence[Text] = (), *, notes: Sequence[str] = ()
) -> ClosedRun:
    names = dict.fromkeys(map(label_text, classes))
    return ClosedRun(
        id=run.id,
        state=run.state.value,
        n_predictions=run.n_predictions,
        content_digest=run.content_digest,
        notices=[*notes, *label_notes(names)],
    )
