"""Logging predictions: a whole run in one transaction, or opening a run for chunks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunFacts, RunState
from offdiag.domain.sentences import listed
from offdiag.errors import Conflict, InvalidInput, KeyUsed
from offdiag.services.ingest.batch import Batch, Predictions, chunked
from offdiag.services.ingest.dataset import project_and_dataset, require_hierarchy, require_task
from offdiag.services.ingest.encode_predictions import encode_predictions, require_dataset_or_truth
from offdiag.services.ingest.finish_run import COUNTED_HERE
from offdiag.services.ingest.known_samples import positions_in
from offdiag.services.ingest.truth import (
    PlacedTruth,
    place_in_latest_truth,
    register_slices,
    register_truth,
    require_kept,
)
from offdiag.services.jobs.submit import submit_evaluation
from offdiag.store import datasets, predictions, runs, slices, truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.retries import after_failures, after_races
from offdiag.store.runs import RunRecord


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """An open run and its dataset."""

    run: RunRecord
    dataset: DatasetRecord


def open_run(
    database: Database,
    *,
    facts: RunFacts,
    dataset: str,
    labels: LabelSet | None,
    positive_label: str | None,
    hierarchy: object | None = None,
) -> OpenedRun:
    """Open a run, or find the one opened with the same client key.

    `labels` may be None if the dataset exists, whose labels also replace inferred ones. Raises
    `InvalidInput` if it does not exist, and `Conflict` if labels, positive class or hierarchy
    differ from the dataset's, or if the key belongs to a run that was described differently.
    """

    def transaction(session: Session) -> OpenedRun:
        now = database.clock()
        known = datasets.find_dataset(session, project=facts.project, name=dataset)
        names = labels
        if known is not None and (labels is None or labels.inferred):
            names = known.labels
        if names is None:
            raise labels_needed(dataset)
        frame = project_and_dataset(
            session,
            project=facts.project,
            name=dataset,
            labels=names,
            positive_label=positive_label,
            now=now,
        )
        frame = require_hierarchy(session, frame, hierarchy)
        run = already_opened(session, frame, facts)
        if run is not None:
            require_same_run(run, frame, facts)
            return OpenedRun(run, frame)
        run = runs.insert_run(session, frame, facts, SourceOrientation.PREDICTIONS, now=now)
        return OpenedRun(run, frame)

    return after_races(database, transaction, finds_itself=facts.client_key is not None)


def already_opened(session: Session, dataset: DatasetRecord, facts: RunFacts) -> RunRecord | None:
    """The run that this client key opened before, if any. Raises `Conflict` if it was deleted."""
    if facts.client_key is None:
        return None
    run = runs.find_by_client_key(
        session, project_id=dataset.project_id, client_key=facts.client_key
    )
    if run is not None and run.deleted_at is not None:
        raise Conflict(
            f"client key {facts.client_key!r} belongs to run {run.id}, which was deleted.",
            field="client_key",
            hint=f"`offdiag runs restore {run.id}` brings it back; a new run needs a new key.",
        )
    return run


def require_same_run(known: RunRecord, dataset: DatasetRecord, facts: RunFacts) -> None:
    """Raise `KeyUsed` if a client key is used again with a different description of its run.

    A complete run may have another name, because a watched folder may have copies of a file, and
    other tags, because people edit them; its content is compared too.
    """
    said: dict[str, tuple[object, object]] = {
        "dataset": (known.dataset_id, dataset.id),
        "model": (known.model, facts.model),
        "params": (dict(known.params), dict(facts.params)),
    }
    if known.state is RunState.OPEN:
        said["name"] = known.name, facts.name
        said["tags"] = dict(known.tags), dict(facts.tags)
    for field, (before, now) in said.items():
        if before != now:
            is_text = field in ("name", "model")
            was = f": {before or 'none'}, not {now or 'none'}" if is_text else ""
            other = f"another {field}"
            if isinstance(before, dict) and isinstance(now, dict):
                names = before.keys() | now.keys()
                differ = [each for each in names if before.get(each, ...) != now.get(each, ...)]
                other = "other parameters" if field == "params" else f"other {field}"
                was = f": {listed([repr(each) for each in sorted(differ)])}"
            raise KeyUsed(
                f"client key {known.client_key!r} belongs to run {known.id}, which was opened "
                f"with {other}{was}.",
                field=field,
                hint="Use a new key for a new run; a retry must send the same.",
            )


def labels_needed(dataset: str) -> InvalidInput:
    """The error for the first run of a dataset whose classes were not declared."""
    return InvalidInput(
        f"dataset {dataset!r} does not exist yet, so its classes are unknown.",
        field="labels",
        hint="Give labels=[...] in their order.",
    )


def log_predictions(
    database: Database, *, facts: RunFacts, dataset: str | None, given: Predictions
) -> RunRecord:
    """Store a finished run and submit it for evaluation: everything, or nothing.

    Without a dataset name, the name is derived from the truth: equal truth, equal dataset. Raises
    `InvalidInput` for unusable arrays and `Conflict` for contradictions to what is stored, and
    issues a `LabelNote` warning for labels that may have been read differently than intended.
    """
    require_dataset_or_truth(dataset, given)
    known = after_failures(lambda: _stored_dataset(database, facts.project, dataset))
    run = encode_predictions(given, project=facts.project, dataset=dataset, known=known)
    warn_of(run.notes)

    def transaction(session: Session) -> tuple[RunRecord, tuple[str, ...]]:
        frame = project_and_dataset(
            session,
            project=facts.project,
            name=run.dataset,
            labels=run.labels,
            positive_label=run.positive_label,
            now=database.clock(),
        )
        frame = require_task(session, frame, of_sets=run.batch.of_sets)
        frame = require_hierarchy(session, frame, given.hierarchy)
        logged, notes = _store(session, database, facts, frame, run.batch)
        return logged, (*frame.notes, *notes)

    logged, notes = after_races(database, transaction, finds_itself=facts.client_key is not None)
    warn_of(notes)
    return logged


def _stored_dataset(database: Database, project: str, dataset: str | None) -> DatasetRecord | None:
    if dataset is None:
        return None
    with database.read() as session:
        return datasets.find_dataset(session, project=project, name=dataset)


def _store(
    session: Session, database: Database, facts: RunFacts, dataset: DatasetRecord, batch: Batch
) -> tuple[RunRecord, tuple[str, ...]]:
    """The run, and what may have been stored differently than intended."""
    content = batch.digest(dataset.labels)
    known = already_opened(session, dataset, facts)
    if known is not None:
        require_same_content(known, dataset, facts, content, "predictions")
        _require_same_slices(session, known, batch)
        return known, ()
    now = database.clock()
    truth = _truth_of(session, database, facts, dataset, batch)
    register_slices(session, truth, batch.slices, now=now)
    if truth.positions is not None:
        batch = batch.take(np.argsort(truth.positions, kind="stable"))
    decision = batch.decision
    batch = Batch(batch.predicted, truth.actual, None, batch.scores, weight=batch.weight)
    run = runs.insert_run(
        session, dataset, facts, SourceOrientation.PREDICTIONS, now=now, decision=decision
    )
    for seq, chunk in enumerate(chunked(batch)):
        predictions.insert_chunk(
            session,
            run_id=run.id,
            seq=seq,
            predicted=chunk.predicted,
            scores=chunk.scores,
            counts=chunk.counts(n_classes=len(dataset.labels)),
            sha256=chunk.digest(dataset.labels),
            weight=chunk.weight,
        )
    finished = runs.mark_finished(
        session,
        run.id,
        truth_version_id=truth.record.id,
        n_predictions=len(batch),
        score_columns=0 if batch.scores is None else batch.scores.n_columns,
        content_digest=content,
        orientation=COUNTED_HERE,
        now=now,
        is_weighted=batch.weight is not None,
    )
    submit_evaluation(session, run.id)
    return finished, truth.notes


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
        predicted=lambda: batch.predicted,
        author=facts.author,
        now=database.clock(),
    )


def _require_same_slices(session: Session, known: RunRecord, batch: Batch) -> None:
    """Raise `Conflict` if the stored slices of the samples differ from those in the batch."""
    if not batch.slices:
        return
    assert known.truth_version_id is not None  # noqa: S101  # The run has these predictions.
    truth = truths.get_truth(session, known.truth_version_id)
    kept = slices.slice_columns(session, truth.root_id)
    ids = truths.truth_ids(session, truth)
    if batch.ids is not None and ids is not None:
        places = positions_in(ids, batch.ids, field="sample_ids")
        kept = {name: column.take(places) for name, column in kept.items()}
    require_kept(kept, batch.slices, known.id)


def require_same_content(
    known: RunRecord,
    dataset: DatasetRecord,
    facts: RunFacts,
    content: str,
    what: str,
    *,
    other: str = "other",
) -> RunRecord:
    """The run with a client key.

    Raises `KeyUsed` unless it is complete with this content, and has the same description.
    """
    if known.state is RunState.OPEN or known.content_digest != content:
        raise KeyUsed(
            f"client key {known.client_key!r} belongs to run {known.id}, which holds {other} "
            f"{what}.",
            field="client_key",
            hint=f"Use a new key for a new run; a retry must send the same {what}.",
        )
    require_same_run(known, dataset, facts)
    return known
