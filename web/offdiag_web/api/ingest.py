"""Logging runs: open, put chunks, finish; every step can be sent again."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain.access import Role
from offdiag.domain.labels import label_text
from offdiag.domain.look_alikes import label_notes
from offdiag.records.ingest import (
    ClosedRun,
    Closing,
    NewCounts,
    NewMatrix,
    NewRun,
    OpenedRun,
    StoredChunk,
    Text,
)
from offdiag.services.ingest.chunks import PutOutcome
from offdiag.services.ingest.counted import log_counts as store_counts
from offdiag.services.ingest.finishing import finish_run
from offdiag.services.ingest.given import GivenCounts
from offdiag.services.ingest.matrices import log_matrix as store_matrix
from offdiag.services.ingest.opening import open_run as open_stored_run
from offdiag.services.ingest.uploading import put_columns
from offdiag.store.runs import RunRecord
from offdiag_web.api.answers.runs import labels
from offdiag_web.api.chunk_formats import MEDIA_TYPES, MOST_BYTES, sent_columns
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry
from offdiag_web.app.permissions import needs

_MATRIX_BYTES = 64 << 20
"""Ten thousand classes would take more; such a matrix is logged as its predictions."""

blueprint = resource("ingest")


@operation(blueprint, "POST", "/runs", answers={201: OpenedRun})
@needs(Role.LOGGER)
def open_run(json: NewRun) -> tuple[OpenedRun, int]:
    """Open a run that takes chunks, or find the one opened with the same client key."""
    opened = open_stored_run(
        current_registry().database,
        facts=json.facts(),
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
        labels=labels(dataset.labels),
        positive_label=dataset.positive_label,
        positive_by_convention=dataset.positive_by_convention,
        notices=list(label_notes(dataset.labels.names)),
    )
    return answer, 201


@operation(
    blueprint,
    "PUT",
    "/runs/<run:run_id>/chunks/<int:seq>",
    answers={200: StoredChunk, 201: StoredChunk},
    sent=MEDIA_TYPES,
    most_bytes=MOST_BYTES,
)
@needs(Role.LOGGER)
def put_chunk(run_id: str, seq: int) -> tuple[StoredChunk, int]:
    """Put one chunk into an open run, numbered from 0.

    The same content under the same number is accepted again, other content is a conflict.
    """
    put = put_columns(current_registry().database, run_id, seq, sent_columns)
    was_there = put.outcome is PutOutcome.ALREADY_THERE
    answer = StoredChunk(run_id=run_id, seq=seq, was_there=was_there, notices=list(put.notes))
    return answer, 200 if was_there else 201


@operation(blueprint, "POST", "/runs/<run:run_id>/finish", answers=ClosedRun)
@needs(Role.LOGGER)
def finish(run_id: str, json: Closing) -> ClosedRun:
    """Close a run: it never changes after that, and its evaluation is asked for."""
    return _closed(finish_run(current_registry().database, run_id, n_chunks=json.n_chunks))


@operation(blueprint, "POST", "/matrices", answers={201: ClosedRun}, most_bytes=_MATRIX_BYTES)
@needs(Role.LOGGER)
def log_matrix(json: NewMatrix) -> tuple[ClosedRun, int]:
    """Store a confusion matrix as a run. What its rows are has to be said."""
    run = store_matrix(
        current_registry().database,
        facts=json.facts(),
        dataset=json.dataset,
        matrix=json.matrix,
        labels=json.labels,
        orientation=json.orientation,
        ordinal=json.ordinal,
        hierarchy=json.hierarchy,
    )
    return _closed(run, json.labels or ()), 201


@operation(blueprint, "POST", "/counts", answers={201: ClosedRun}, most_bytes=_MATRIX_BYTES)
@needs(Role.LOGGER)
def log_counts(json: NewCounts) -> tuple[ClosedRun, int]:
    """Store how many cases there are of each kind as a run."""
    given = GivenCounts(
        json.actual,
        json.predicted,
        json.sizes,
        json.counted_on,
        json.slices,
        json.labels,
        json.ordinal,
        json.positive_label,
        json.hierarchy,
    )
    run = store_counts(
        current_registry().database, facts=json.facts(), dataset=json.dataset, given=given
    )
    return _closed(run, json.labels or [*json.actual, *json.predicted]), 201


def _closed(run: RunRecord, classes: Sequence[Text] = ()) -> ClosedRun:
    names = dict.fromkeys(map(label_text, classes))
    return ClosedRun(
        id=run.id,
        state=run.state.value,
        n_predictions=run.n_predictions,
        content_digest=run.content_digest,
        notices=list(label_notes(names)),
    )
