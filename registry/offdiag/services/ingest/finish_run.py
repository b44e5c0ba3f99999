"""Finishing a run: it becomes immutable and is submitted for evaluation, in one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import datetime

import numpy as np

from offdiag.domain.look_alikes import warn_of
from offdiag.domain.number_text import count
from offdiag.domain.orientation import OrientationEvidence, OrientationVerdict, SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.ids import joined
from offdiag.inputs.labels import Codes
from offdiag.inputs.slice_columns import SliceColumns, concatenated_slices
from offdiag.metrics.counted import count_part
from offdiag.metrics.weighted.counts import require_some_weight
from offdiag.services.ingest.batch import (
    require_same_columns,
    score_widths_differ,
    some_batches_lack,
)
from offdiag.services.ingest.chunks import not_open
from offdiag.services.ingest.truth import (
    PlacedTruth,
    place_in_latest_truth,
    register_slices,
    register_truth,
)
from offdiag.services.jobs.submit import submit_evaluation
from offdiag.store import datasets, pending_truth, predictions, runs, slices
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.pending_truth import PendingTruth
from offdiag.store.predictions import ChunkMeta
from offdiag.store.retries import after_races
from offdiag.store.runs import RunRecord

COUNTED_HERE = OrientationEvidence(SourceOrientation.PREDICTIONS, OrientationVerdict.CANONICAL)
"""Evidence for a run whose matrix is counted from predictions: correct by construction."""


def finish_run(
    database: Database,
    run_id: str,
    *,
    n_chunks: int | None = None,
    tell: Callable[[Iterable[str]], None] = warn_of,
) -> RunRecord:
    """Close an open run, register its ground truth and submit it for evaluation.

    Finishing twice returns the same run. `tell` is called with sentences on what may have been
    stored differently than intended. Raises `Conflict` if a chunk is missing, or if there are not
    `n_chunks` of them, and `InvalidInput` if nothing was logged or the truth does not fit; then
    the run remains open.
    """
    run, notes = after_races(
        database, lambda session: _finish(session, run_id, n_chunks, database.clock())
    )
    tell(notes)
    return run


def _finish(
    session: Session, run_id: str, n_chunks: int | None, now: datetime
) -> tuple[RunRecord, tuple[str, ...]]:
    run = runs.lock_run(session, run_id, alone=True)
    stored = predictions.chunk_list(session, run_id)
    if n_chunks is not None and n_chunks < len(stored):
        raise _more_chunks(run_id, len(stored), n_chunks)
    if run.state is not RunState.OPEN:
        if n_chunks is not None and n_chunks > len(stored):
            raise not_open(run_id, run.state)
        return run, ()
    _require_complete(run_id, stored, n_chunks)
    n_scored, least_columns, score_columns = predictions.score_columns(session, run_id)
    if n_scored not in (0, len(stored)):
        raise some_batches_lack("y_score")
    if least_columns != score_columns:
        raise score_widths_differ(least_columns, score_columns)
    n_weighted, largest = predictions.largest_weight(session, run_id)
    if n_weighted not in (0, len(stored)):
        raise some_batches_lack("sample_weight")
    if n_weighted:
        require_some_weight(largest)
    dataset = datasets.get_dataset(session, run.dataset_id)
    truth = _truth_of(session, run, dataset, stored, now=now)
    columns = _slices_of(session, run_id, len(stored))
    register_slices(session, truth, columns, now=now)
    _place_chunks(session, run_id, truth, n_classes=len(dataset.labels))
    pending_truth.delete_pending(session, run_id)
    slices.delete_pending_slices(session, run_id)
    finished = runs.mark_finished(
        session,
        run_id,
        truth_version_id=truth.record.id,
        n_predictions=sum(chunk.n for chunk in stored),
        score_columns=score_columns,
        content_digest=content_digest(stored),
        orientation=COUNTED_HERE,
        now=now,
        is_weighted=n_weighted > 0,
    )
    submit_evaluation(session, run_id)
    return finished, truth.notes


def _more_chunks(run_id: str, n_stored: int, n_chunks: int) -> Conflict:
    return Conflict(
        f"run {run_id} has {count(n_stored, 'chunk')}, not {n_chunks}.",
        field="n_chunks",
        hint="It was logged before with more predictions; use another client key for other ones.",
    )


def _require_complete(run_id: str, stored: list[ChunkMeta], n_chunks: int | None) -> None:
    if not stored:
        raise InvalidInput(
            f"run {run_id} has no predictions.",
            field="run",
            hint="Log at least one before finishing.",
        )
    for expected, chunk in enumerate(stored):
        if chunk.seq != expected:
            raise Conflict(
                f"chunk {expected} of run {run_id} is missing.",
                field="seq",
                hint="Send it, then finish again.",
            )
    if n_chunks is not None and len(stored) < n_chunks:
        raise Conflict(
            f"chunk {len(stored)} of run {run_id} is missing.",
            field="seq",
            hint="Send it, then finish again.",
        )


def _truth_of(
    session: Session,
    run: RunRecord,
    dataset: DatasetRecord,
    stored: list[ChunkMeta],
    *,
    now: datetime,
) -> PlacedTruth:
    pending = pending_truth.pending_parts(session, run.id)
    _require_uniform(pending, len(stored))
    actual: list[Codes] = [part.actual for part in pending if part.actual is not None]
    ids = [part.ids for part in pending if part.ids is not None]
    if actual:
        return register_truth(
            session,
            dataset,
            np.concatenate(actual),
            joined(ids) if ids else None,
            predicted=lambda: np.concatenate(
                [
                    chunk.predicted
                    for chunk in predictions.read_chunks(
                        session, run.id, n_classes=len(dataset.labels)
                    )
                ]
            ),
            author=run.author,
            now=now,
        )
    return place_in_latest_truth(
        session,
        dataset,
        n_cases=sum(chunk.n for chunk in stored),
        ids=joined(ids) if ids else None,
        author=run.author,
        now=now,
    )


def _slices_of(session: Session, run_id: str, n_chunks: int) -> SliceColumns:
    pending = slices.pending_slices(session, run_id)
    if not pending:
        return {}
    parts = [pending.get(seq, {}) for seq in range(n_chunks)]
    require_same_columns(parts)
    return concatenated_slices(parts)


def _require_uniform(pending: list[PendingTruth], n_chunks: int) -> None:
    for field, given in (
        ("y_true", sum(part.actual is not None for part in pending)),
        ("sample_ids", sum(part.ids is not None for part in pending)),
    ):
        if given not in (0, n_chunks):
            raise some_batches_lack(field)


def _place_chunks(session: Session, run_id: str, truth: PlacedTruth, *, n_classes: int) -> None:
    if truth.positions is None and not predictions.lack_counts(session, run_id):
        return  # They came with their actual classes, in order: nothing has to be read again.
    for chunk in list(predictions.read_chunks(session, run_id, n_classes=n_classes)):
        if truth.positions is None and chunk.counts is not None:
            continue
        stop = chunk.start + len(chunk.predicted)
        places = None if truth.positions is None else truth.positions[chunk.start : stop]
        actual = truth.actual[chunk.start : stop] if places is None else truth.actual[places]
        predictions.place_chunk(
            session,
            run_id,
            chunk.seq,
            positions=places,
            counts=count_part(actual, chunk.predicted, n_classes=n_classes),
            predicted=chunk.predicted,
        )


def content_digest(stored: list[ChunkMeta]) -> str:
    """SHA-256 over the digests of all chunks of a run, in order."""
    return hashlib.sha256("".join(chunk.sha256 for chunk in stored).encode()).hexdigest()
