"""Logging a finished matrix whose predictions are not at hand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet, require_known
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunFacts, new_run_id
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix
from offdiag.metrics.orientation import verify_orientation
from offdiag.services.ingest.dataset import project_and_dataset
from offdiag.services.ingest.hierarchy import settle_hierarchy
from offdiag.services.ingest.opening import already_opened, labels_needed
from offdiag.services.ingest.task import settle_task
from offdiag.services.work.submit import submit_evaluation
from offdiag.store import datasets, runs, truths, uploads
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.failures import after_races
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session

ORIENTATIONS = (SourceOrientation.ACTUAL_ROWS.value, SourceOrientation.ACTUAL_COLUMNS.value)


def log_matrix(
    database: Database,
    *,
    facts: RunFacts,
    dataset: str,
    matrix: ArrayLike,
    labels: Iterable[object] | None,
    orientation: str,
    ordinal: bool,
    hierarchy: object | None = None,
) -> RunRecord:
    """Store an uploaded matrix as a finished run and ask for its evaluation.

    The matrix is kept in the orientation it claims; its margins are compared with the class
    counts of the dataset's newest truth and the outcome is recorded with the run. Labels in
    another order than the dataset's are matched by name. Raises `InvalidInput` for a matrix
    that is none, and `Conflict` for contradictions to what is stored.
    """
    require_known(orientation, ORIENTATIONS, field_name="orientation")
    source = SourceOrientation(orientation)
    declared = None if labels is None else LabelSet.declared(labels, ordinal=ordinal)

    def transaction() -> RunRecord:
        with database.write() as session:
            return _log(
                session,
                facts=facts,
                dataset=dataset,
                matrix=matrix,
                declared=declared,
                source=source,
                hierarchy=hierarchy,
                now=database.clock(),
            )

    return after_races(transaction, finds_itself=facts.client_key is not None)


def _log(
    session: Session,
    *,
    facts: RunFacts,
    dataset: str,
    matrix: ArrayLike,
    declared: LabelSet | None,
    source: SourceOrientation,
    hierarchy: object | None,
    now: datetime,
) -> RunRecord:
    known = datasets.find_dataset(session, project=facts.project, name=dataset)
    names = declared or (known.labels if known else None)
    if names is None:
        raise labels_needed(dataset)
    read = confusion_matrix(matrix, labels=names, orientation=source)
    if read.total == 0:
        raise InvalidInput(
            "all cells are zero.", field="matrix", hint="A run has at least one case."
        )
    ordered = read if known is None else _in_order_of(read, known)
    frame = project_and_dataset(
        session,
        project=facts.project,
        name=dataset,
        labels=ordered.labels,
        positive_label=None,
        now=now,
    )
    frame = settle_task(session, frame, of_sets=False)
    frame = settle_hierarchy(session, frame, hierarchy)
    truth = truths.latest_truth(session, frame.id)
    again = already_opened(session, frame, facts)
    if again is not None:
        return _same_matrix(again, ordered)
    run = runs.insert_run(
        session,
        run_id=new_run_id(),
        project_id=frame.project_id,
        dataset_id=frame.id,
        facts=facts,
        source=source,
        now=now,
    )
    uploads.insert_matrix(session, run.id, ordered, source)
    runs.mark_finished(
        session,
        run.id,
        truth_version_id=None if truth is None else truth.id,
        n_predictions=ordered.total,
        score_columns=0,
        content_digest=ordered.digest,
        orientation=verify_orientation(
            ordered.counts,
            source=source,
            class_counts=None if truth is None or truth.is_partial else truth.class_counts,
        ),
        now=now,
    )
    submit_evaluation(session, run.id)
    return runs.get_run(session, run.id)


def _in_order_of(matrix: ConfusionMatrix, dataset: DatasetRecord) -> ConfusionMatrix:
    if set(matrix.labels.names) != set(dataset.labels.names):
        return matrix  # The check of the dataset's labels says what is wrong.
    places = np.array([matrix.labels.index[name] for name in dataset.labels.names])
    counts: NDArray[np.int64] = matrix.counts[np.ix_(places, places)]
    return ConfusionMatrix(counts, dataset.labels)


def _same_matrix(known: RunRecord, matrix: ConfusionMatrix) -> RunRecord:
    if known.content_digest != matrix.digest:
        raise Conflict(
            f"client key {known.client_key!r} belongs to run {known.id}, which holds another "
            "matrix.",
            field="client_key",
            hint="Use a new key for a new run; a retry must send the same matrix.",
        )
    return known
