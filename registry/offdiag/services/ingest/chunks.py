"""Storing chunks of predictions in an open run, idempotently by number and content.

Chunks that arrive as columns of a file format are encoded with the labels of their run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunState
from offdiag.errors import Conflict, InvalidInput, TooLarge
from offdiag.inputs.bodies.columns import MOST_CHUNKS, ChunkColumns
from offdiag.inputs.slice_columns import SliceColumns
from offdiag.services.ingest.batch import Batch, read_batch, some_batches_lack
from offdiag.services.ingest.dataset import require_task
from offdiag.services.ingest.truth import require_kept
from offdiag.store import datasets, pending_truth, predictions, runs, slices, truths
from offdiag.store.database import Database, Session
from offdiag.store.retries import after_races
from offdiag.store.runs import RunRecord


class PutOutcome(StrEnum):
    """The effect of storing a chunk."""

    STORED = "stored"
    ALREADY_THERE = "already_there"


def put_chunk(database: Database, run_id: str, seq: int, batch: Batch) -> PutOutcome:
    """Store one chunk of an open run.

    The same content under the same number is accepted again and changes nothing. Raises `Conflict`
    for other content or slices under a used number and for a run that is not open.
    """
    if seq < 0:
        raise InvalidInput(f"{seq} is negative.", field="seq", hint="Count chunks from 0.")
    return after_races(database, lambda session: _put_chunk(session, run_id, seq, batch))


def _put_chunk(session: Session, run_id: str, seq: int, batch: Batch) -> PutOutcome:
    # The rule of a run is written once; requests that might write it wait for each other.
    run = runs.lock_run(session, run_id, alone=batch.decision is not None)
    dataset = datasets.get_dataset(session, run.dataset_id)
    dataset = require_task(session, dataset, of_sets=batch.of_sets)
    digest = batch.digest(dataset.labels)
    stored = predictions.chunk_sha256(session, run_id, seq)
    if stored == digest:
        if batch.slices:
            require_kept(_slices_of(session, run, seq), batch.slices, run.id)
        return PutOutcome.ALREADY_THERE
    if stored is not None:
        raise Conflict(
            f"chunk {seq} of run {run_id} was logged before with other content.",
            field="seq",
            hint="A retry must send the same bytes. Other content is the next chunk, or "
            "another run, which needs another client_key.",
        )
    if run.state is not RunState.OPEN:
        raise not_open(run_id, run.state)
    _require_decision_rule(session, run, batch)
    predictions.insert_chunk(
        session,
        run_id=run_id,
        seq=seq,
        predicted=batch.predicted,
        scores=batch.scores,
        counts=batch.counts(n_classes=len(dataset.labels)),
        sha256=digest,
        weight=batch.weight,
    )
    if batch.actual is not None or batch.ids is not None:
        pending_truth.insert_pending(
            session, run_id=run_id, seq=seq, actual=batch.actual, ids=batch.ids
        )
    slices.insert_pending_slices(session, run_id, seq, batch.slices)
    return PutOutcome.STORED


def _slices_of(session: Session, run: RunRecord, seq: int) -> SliceColumns:
    """The slice columns of the samples of a stored chunk, in its order."""
    if run.truth_version_id is None:
        return slices.pending_slices(session, run.id).get(seq, {})
    root_id = truths.get_truth(session, run.truth_version_id).root_id
    places = predictions.chunk_places(session, run.id, seq)
    kept = slices.slice_columns(session, root_id)
    return {name: column.take(places) for name, column in kept.items()}


def _require_decision_rule(session: Session, run: RunRecord, batch: Batch) -> None:
    """Store the decision rule with the run. Raises `InvalidInput` if chunks differ in it."""
    if batch.decision == run.decision:
        return
    if run.decision is not None or predictions.chunk_list(session, run.id):
        raise some_batches_lack("y_pred")
    runs.set_decision(session, run.id, batch.decision)


def not_open(run_id: str, state: RunState) -> Conflict:
    """The error for changing a run that is complete."""
    return Conflict(
        f"run {run_id} is {state.value} and cannot be changed.",
        field="run",
        hint="Start a new run; finished runs are immutable so that results stay comparable.",
    )


@dataclass(frozen=True, slots=True)
class PutColumns:
    """The effect of storing columns, and what may have been read differently than intended."""

    outcome: PutOutcome
    notes: tuple[str, ...]


def put_columns(
    database: Database, run_id: str, seq: int, read: Callable[[LabelSet], ChunkColumns]
) -> PutColumns:
    """Store one chunk of an open run; `read` returns its columns for the labels of the run.

    Raises `NotFound` for an unknown run before anything is read, `InvalidInput` for unusable
    columns, and `Conflict` like `put_chunk`.
    """
    if seq >= MOST_CHUNKS:
        raise TooLarge(
            f"{seq} exceeds the number of chunks a run may have.",
            field="seq",
            hint=f"Send at most {MOST_CHUNKS:,} chunks, each with more rows.",
        )
    with database.read() as session:
        dataset = datasets.get_dataset(session, runs.get_run(session, run_id).dataset_id)
    columns = read(dataset.labels)
    batch = read_batch(
        y_pred=columns.y_pred,
        y_true=columns.y_true,
        y_score=columns.y_score,
        ids=columns.sample_ids,
        slices=columns.slices or None,
        sample_weight=columns.sample_weight,
        labels=dataset.labels,
        positive_label=dataset.positive_label,
    )
    outcome = put_chunk(database, run_id, seq, batch)
    return PutColumns(outcome, batch.notes)
