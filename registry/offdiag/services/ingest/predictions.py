"""Logging all predictions of a run in one call, stored in one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from offdiag.arrays.labels import infer_labels
from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunFacts, RunState, new_run_id
from offdiag.errors import Conflict, InvalidInput
from offdiag.services.ingest.batch import Batch, chunked, in_id_order, read_batch
from offdiag.services.ingest.chunks import store_chunk
from offdiag.services.ingest.dataset import (
    positive_in,
    project_and_dataset,
    require_same_labels,
)
from offdiag.services.ingest.finishing import COUNTED_HERE
from offdiag.services.ingest.opening import already_opened
from offdiag.services.ingest.slices import register_slices
from offdiag.services.ingest.truth import (
    PlacedTruth,
    place_in_latest_truth,
    register_truth,
    truth_digest,
)
from offdiag.services.work.submit import submit_evaluation
from offdiag.store import datasets, runs
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session


@dataclass(frozen=True)
class Predictions:
    """Arrays of one call as the user holds them, and what is said about their classes."""

    y_pred: object
    y_true: object | None = None
    y_score: object | None = None
    sample_ids: object | None = None
    slices: object | None = None
    labels: Iterable[object] | None = None
    ordinal: bool = False
    positive_label: object | None = None


def log_predictions(
    database: Database, *, facts: RunFacts, dataset: str | None, given: Predictions
) -> RunRecord:
    """Store a finished run and ask for its evaluation: everything, or nothing.

    Without a dataset name the truth names it: equal truth, equal dataset. Raises
    `InvalidInput` for unusable arrays and `Conflict` for contradictions to what is stored.
    """
    if dataset is None and given.y_true is None:
        raise InvalidInput(
            "neither ground truth nor the name of a dataset that has one is given.",
            field="y_true",
            hint="Give y_true=, or dataset= with the name of a dataset logged before.",
        )
    labels = _labels_of(database, facts.project, dataset, given)
    positive = None if given.positive_label is None else label_text(given.positive_label)
    batch = read_batch(
        y_pred=given.y_pred,
        y_true=given.y_true,
        y_score=given.y_score,
        ids=given.sample_ids,
        labels=labels,
        positive_label=positive_in(labels, positive)
        or _stored_positive(database, facts.project, dataset),
        slices=given.slices,
    )
    batch = in_id_order(batch)
    name = dataset if dataset is not None else _name_from_truth(labels, batch)
    with database.write() as session:
        frame = project_and_dataset(
            session,
            project=facts.project,
            name=name,
            labels=labels,
            positive_label=positive,
            now=database.clock(),
        )
        return _store(session, database, facts, frame, batch)


def _labels_of(
    database: Database, project: str, dataset: str | None, given: Predictions
) -> LabelSet:
    declared = (
        None if given.labels is None else LabelSet.declared(given.labels, ordinal=given.ordinal)
    )
    known = _stored_dataset(database, project, dataset)
    if known is not None:
        if declared is not None:
            require_same_labels(known, declared)
        return known.labels
    if declared is not None:
        return declared
    if given.y_true is None:
        raise InvalidInput(
            f"dataset {dataset!r} does not exist in project {project!r}.",
            field="dataset",
            hint="Give y_true= with its first run, or labels= and sample_ids= if they come later.",
        )
    if given.ordinal:
        raise InvalidInput(
            "an order was claimed but no labels were declared.",
            field="ordinal",
            hint="Give labels= in their order.",
        )
    return infer_labels(("y_true", given.y_true), ("y_pred", given.y_pred))


def _stored_dataset(database: Database, project: str, dataset: str | None) -> DatasetRecord | None:
    if dataset is None:
        return None
    with database.read() as session:
        return datasets.find_dataset(session, project=project, name=dataset)


def _stored_positive(database: Database, project: str, dataset: str | None) -> str | None:
    known = _stored_dataset(database, project, dataset)
    return known.positive_label if known else None


def _name_from_truth(labels: LabelSet, batch: Batch) -> str:
    assert batch.actual is not None  # noqa: S101  # The caller asked for truth or a name.
    return f"data-{truth_digest(labels, batch.actual, batch.ids)[:12]}"


def _store(
    session: Session, database: Database, facts: RunFacts, dataset: DatasetRecord, batch: Batch
) -> RunRecord:
    content = batch.digest(dataset.labels)
    known = already_opened(session, dataset, facts)
    if known is not None:
        return _same_run(known, content)
    now = database.clock()
    truth = _truth_of(session, database, facts, dataset, batch)
    register_slices(session, truth, batch.slices, now=now)
    if truth.positions is not None:
        batch = batch.take(np.argsort(truth.positions, kind="stable"))
    batch = Batch(batch.predicted, truth.actual, None, batch.scores)
    run = runs.insert_run(
        session,
        run_id=new_run_id(),
        project_id=dataset.project_id,
        dataset_id=dataset.id,
        facts=facts,
        source=SourceOrientation.PREDICTIONS,
        now=now,
    )
    for seq, chunk in enumerate(chunked(batch)):
        digest = chunk.digest(dataset.labels)
        store_chunk(session, run.id, seq, chunk, n_classes=len(dataset.labels), digest=digest)
    runs.mark_finished(
        session,
        run.id,
        truth_version_id=truth.record.id,
        n_predictions=len(batch),
        score_columns=0 if batch.scores is None else batch.scores.n_columns,
        content_digest=content,
        orientation=COUNTED_HERE,
        now=now,
    )
    submit_evaluation(session, run.id)
    return runs.get_run(session, run.id)


def _truth_of(
    session: Session, database: Database, facts: RunFacts, dataset: DatasetRecord, batch: Batch
) -> PlacedTruth:
    if batch.actual is None:
        return place_in_latest_truth(
            session,
            dataset,
            n_cases=len(batch),
            ids=batch.ids,
            author=facts.author,
            now=database.clock(),
        )
    return register_truth(
        session,
        dataset,
        batch.actual,
        batch.ids,
        author=facts.author,
        now=database.clock(),
    )


def _same_run(known: RunRecord, content: str) -> RunRecord:
    if known.state is RunState.OPEN or known.content_digest != content:
        raise Conflict(
            f"client key {known.client_key!r} belongs to run {known.id}, which holds other "
            "predictions.",
            field="client_key",
            hint="Use a new key for a new run; a retry must send the same predictions.",
        )
    return known
