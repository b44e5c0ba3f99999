"""Chunks that come as columns of a format: encoded with the labels of their run, then put."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import label_notes
from offdiag.errors import TooLarge
from offdiag.inputs.bodies.columns import MOST_CHUNKS, ChunkColumns
from offdiag.services.ingest.batch import read_batch
from offdiag.services.ingest.chunks import PutOutcome, put_chunk
from offdiag.store import datasets, runs
from offdiag.store.database import Database


@dataclass(frozen=True, slots=True)
class PutColumns:
    """What putting columns did, and what may not be meant as it was read."""

    outcome: PutOutcome
    notes: tuple[str, ...]


def put_columns(
    database: Database, run_id: str, seq: int, read: Callable[[LabelSet], ChunkColumns]
) -> PutColumns:
    """Store one chunk of an open run; `read` gives its columns, for a run with such labels.

    Raises `NotFound` for an unknown run before anything is read, `InvalidInput` for unusable
    columns, and `Conflict` as `put_chunk` does.
    """
    if seq >= MOST_CHUNKS:
        raise TooLarge(
            f"{seq} is more than the number of chunks a run may have.",
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
        labels=dataset.labels,
        positive_label=dataset.positive_label,
    )
    outcome = put_chunk(database, run_id, seq, batch)
    return PutColumns(outcome, label_notes((), whole_floats=batch.whole_floats))
