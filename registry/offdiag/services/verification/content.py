"""Whether the predictions of a run are the bytes that were logged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.orientation import SourceOrientation
from offdiag.inputs.ids import SampleIds, sample_ids
from offdiag.inputs.labels import Codes
from offdiag.inputs.scores import Scores
from offdiag.services.ingest.batch import Batch
from offdiag.store import predictions, truths, uploads
from offdiag.store.datasets import DatasetRecord
from offdiag.store.predictions import StoredChunk
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord


def content_is_intact(
    session: Session, run: RunRecord, dataset: DatasetRecord, truth: TruthRecord | None
) -> bool:
    """Whether the digests that were taken when the run was logged still fit what is stored.

    `truth` is the version the run was logged with.
    """
    if run.source is not SourceOrientation.PREDICTIONS:
        stored = uploads.read_matrix(session, run.id, dataset.labels, run.source)
        cases = uploads.find_counted_cases(session, run.id)
        if cases is None:
            return stored.digest == run.content_digest
        counted_again = cases.matrix(dataset.labels)
        return (stored.digest, cases.digest(dataset.labels)) == (
            counted_again.digest,
            run.content_digest,
        )
    if truth is None:
        return False
    ids = truths.truth_ids(session, truth)
    actual = truths.truth_codes(session, truth.id)
    scores = predictions.read_scores(session, run.id)
    sha256s = [chunk.sha256 for chunk in predictions.chunk_list(session, run.id)]
    parts = list(predictions.read_chunks(session, run.id, n_classes=len(dataset.labels)))
    for part, sha256 in zip(parts, sha256s, strict=True):
        candidates = _batches(part, actual, ids, scores)
        if not any(sha256 == batch.digest(dataset.labels) for batch in candidates):
            return False
    streamed = hashlib.sha256("".join(sha256s).encode()).hexdigest()
    if run.content_digest == streamed:
        return True
    predicted = np.concatenate([part.predicted for part in parts])
    whole = StoredChunk(0, 0, predicted, None, None)
    candidates = _batches(whole, actual, ids, scores)
    return any(run.content_digest == batch.digest(dataset.labels) for batch in candidates)


def _batches(
    part: StoredChunk, actual: Codes, ids: SampleIds | None, scores: NDArray[np.float32] | None
) -> Iterator[Batch]:
    """Everything that may have been handed in for a part of a run.

    Whether labels and identifiers came with it or were known already is not stored, because
    nothing else depends on it.
    """
    stop = part.start + len(part.predicted)
    found = None if scores is None else Scores(scores[part.start : stop])
    for known_actual in (part.actual_in(actual), None):
        for known_ids in _ids_of(part, ids):
            yield Batch(part.predicted, known_actual, known_ids, found)


def _ids_of(part: StoredChunk, ids: SampleIds | None) -> Iterator[SampleIds | None]:
    yield None
    if ids is None:
        return
    stop = part.start + len(part.predicted)
    placed = (
        ids.slice(part.start, stop)
        if part.positions is None
        else ids.take(part.positions.astype(np.int64))
    )
    yield placed
    if placed.kind == "text":
        # A batch of numbers, beside others with text.
        yield sample_ids(placed.values)
