"""Logging a finished matrix, or samples that were counted where the predictions are stored.

Counted samples give the matrix of a run and those of its slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import (
    LabelSet,
    infer_label_set,
    label_text,
    refuse_fractions,
    require_known,
)
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunFacts, Scalar, require_name
from offdiag.errors import InvalidInput, KeyUsed
from offdiag.inputs.counted_samples import CountedSamples, counted_samples
from offdiag.inputs.labels import order_of_no_labels
from offdiag.inputs.score_notes import counted_score_notes
from offdiag.metrics.arguments import refuse_totals
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix
from offdiag.metrics.orientation import verify_orientation
from offdiag.services.ingest.batch import GivenCounts, GivenMatrix, GivenPairedCounts
from offdiag.services.ingest.dataset import project_and_dataset, require_hierarchy, require_task
from offdiag.services.ingest.dataset_labels import require_same_labels
from offdiag.services.ingest.log_predictions import (
    already_opened,
    labels_needed,
    require_same_content,
)
from offdiag.services.jobs.submit import submit_evaluation
from offdiag.store import datasets, logged_counts, runs, truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.retries import after_races
from offdiag.store.runs import RunRecord

ORIENTATIONS = (SourceOrientation.ACTUAL_ROWS.value, SourceOrientation.ACTUAL_COLUMNS.value)


def log_matrix(
    database: Database,
    *,
    facts: RunFacts,
    dataset: str,
    given: GivenMatrix,
    tell: Callable[[Iterable[str]], None] = warn_of,
) -> RunRecord:
    """Store an uploaded matrix as a finished run and submit it for evaluation.

    The matrix is stored in its stated orientation; its margins are compared with the class counts
    of the dataset's newest truth and the outcome is recorded with the run. Labels in another order
    than the dataset's are matched by name. `reported` numbers become tags, which are audited
    against the matrix wherever the run is shown. `tell` is called with sentences on a dataset that
    may not be meant. Raises `InvalidInput` for an unusable matrix, and `Conflict` for
    contradictions to what is stored.
    """
    require_known(given.orientation, ORIENTATIONS, field_name="orientation")
    source = SourceOrientation(given.orientation)
    declared = (
        None if given.labels is None else LabelSet.declared(given.labels, ordinal=given.ordinal)
    )

    def transaction(session: Session) -> tuple[RunRecord, tuple[str, ...]]:
        now = database.clock()
        known = datasets.find_dataset(session, project=facts.project, name=dataset)
        names = declared or (known.labels if known else None)
        if names is None:
            raise labels_needed(dataset)
        read = _read_matrix(given.matrix, names, source)
        ordered = read if known is None else _in_order_of(read, known)
        frame = project_and_dataset(
            session,
            project=facts.project,
            name=dataset,
            labels=ordered.labels,
            positive_label=None,
            now=now,
        )
        frame = require_task(session, frame, of_sets=False)
        frame = require_hierarchy(session, frame, given.hierarchy)
        numbers: Mapping[str, Scalar] = {}
        if given.reported is not None:
            from offdiag.audit.audit import reported_tags  # Few logs need it.

            numbers = reported_tags(given.reported, names)
        said = replace(facts, tags={**numbers, **facts.tags})
        again = already_opened(session, frame, said)
        if again is not None:
            require_same_content(again, frame, said, ordered.digest, "matrix", other="another")
            _require_same_numbers(again, {tag: said.tags[tag] for tag in numbers})
            return again, ()
        sent = {tag: said.tags[tag] for tag in numbers} or None
        run = _insert(session, frame, said, ordered, source, now=now, reported=sent)
        return run, frame.notes

    run, notes = after_races(database, transaction, finds_itself=facts.client_key is not None)
    tell(notes)
    return run


def _require_same_numbers(known: RunRecord, numbers: Mapping[str, Scalar]) -> None:
    """Raise `KeyUsed` if the run with the client key lacks some of these reported numbers (tags).

    Both the numbers that were sent with it and their later edits are accepted.
    """
    sent: Mapping[str, Scalar] = (known.orientation_evidence or {}).get("reported") or {}
    other = next(
        (
            tag
            for tag, value in numbers.items()
            if value not in (sent.get(tag), known.tags.get(tag))
        ),
        None,
    )
    if other is not None:
        has = f"has {known.tags[other]}" if other in known.tags else "has none"
        raise KeyUsed(
            f"run {known.id} was logged before and {has} as {other}, not {numbers[other]}.",
            field="reported",
            hint="A retry must send the same; `Run.add_tags` changes numbers of a stored run.",
        )


def _read_matrix(
    matrix: ArrayLike, labels: LabelSet, source: SourceOrientation
) -> ConfusionMatrix:
    read = confusion_matrix(matrix, labels=labels, orientation=source)
    refuse_totals(read.counts, read.labels.names)
    if read.total == 0:
        raise InvalidInput(
            "all cells are zero.", field="matrix", hint="A run has at least one sample."
        )
    return read


def _insert(
    session: Session,
    frame: DatasetRecord,
    facts: RunFacts,
    matrix: ConfusionMatrix,
    source: SourceOrientation,
    *,
    now: datetime,
    cases: CountedSamples | None = None,
    counted_on: str | None = None,
    reported: Mapping[str, Scalar] | None = None,
) -> RunRecord:
    """Store a finished run with a matrix, and with the counted samples, if they are known.

    Its margins are compared with the class counts of the newest truth. Submits its evaluation.
    """
    truth = truths.latest_truth(session, frame.id)
    evidence = verify_orientation(
        matrix.counts,
        source=source,
        class_counts=None if truth is None or truth.is_partial else truth.class_counts,
    )
    run = runs.insert_run(session, frame, facts, source, now=now)
    logged_counts.insert_matrix(session, run.id, matrix, source)
    if cases is not None:
        logged_counts.insert_counted_samples(session, run.id, cases)
    finished = runs.mark_finished(
        session,
        run.id,
        truth_version_id=None if truth is None else truth.id,
        n_predictions=matrix.total,
        score_columns=0 if cases is None else cases.score_columns,
        content_digest=matrix.digest if cases is None else content_digest(cases, matrix),
        orientation=replace(
            evidence if counted_on is None else evidence.counted_by(counted_on), reported=reported
        ),
        now=now,
    )
    submit_evaluation(session, run.id)
    return finished


def _in_order_of(matrix: ConfusionMatrix, dataset: DatasetRecord) -> ConfusionMatrix:
    if set(matrix.labels.names) != set(dataset.labels.names):
        return matrix  # The check of the dataset's labels says what is wrong.
    places = np.array([matrix.labels.index[name] for name in dataset.labels.names])
    counts: NDArray[np.int64] = matrix.counts[np.ix_(places, places)]
    return ConfusionMatrix(counts, dataset.labels)


LAYOUT = SourceOrientation.ACTUAL_ROWS
"""The orientation in which a matrix that is counted here is stored."""


def log_counts(
    database: Database,
    *,
    facts: RunFacts,
    dataset: str,
    given: GivenCounts,
    tell: Callable[[Iterable[str]], None] = warn_of,
) -> RunRecord:
    """Store a finished run from counts and submit it for evaluation: everything, or nothing.

    The labels are the declared ones, those of the dataset, or else the sorted ones that occur;
    then actual and predicted classes must have one in common. The run has no predictions, as after
    `log_matrix`; with slice columns, counts are stored by their values, so that any slice can be
    evaluated. `tell` is called with sentences on scores that may not be meant as they were read,
    and on a dataset that may not be meant. Raises `InvalidInput` for unusable counts and
    `Conflict` for contradictions to what is stored.
    """
    require_name(given.counted_on, "counted_on")
    refuse_fractions(given.actual, field="actual")
    refuse_fractions(given.predicted, field="predicted")
    declared = (
        None if given.labels is None else LabelSet.declared(given.labels, ordinal=given.ordinal)
    )

    def transaction(session: Session) -> tuple[RunRecord, tuple[str, ...]]:
        now = database.clock()
        known = datasets.find_dataset(session, project=facts.project, name=dataset)
        labels = labels_of(known, declared, given)
        frame = counted_dataset(session, facts.project, dataset, labels, given, now=now)
        cases = counted_samples(
            actual=given.actual,
            predicted=given.predicted,
            sizes=given.sizes,
            slices=given.slices,
            labels=labels,
            scores=given.scores,
            positive_label=frame.positive_label,
            class_scores=given.class_scores,
        )
        run, _ = insert_counts(session, frame, facts, cases, given.counted_on, now=now)
        of_scores = counted_score_notes(cases, labels, frame.positive_label)
        return run, (*frame.notes, *of_scores)

    run, notes = after_races(database, transaction, finds_itself=facts.client_key is not None)
    tell(notes)
    return run


def counted_dataset(
    session: Session,
    project: str,
    name: str,
    labels: LabelSet,
    given: GivenCounts | GivenPairedCounts,
    *,
    now: datetime,
) -> DatasetRecord:
    """The dataset of counts, created if there is none. Raises `Conflict` for contradictions."""
    positive = given.positive_label
    frame = project_and_dataset(
        session,
        project=project,
        name=name,
        labels=labels,
        positive_label=None if positive is None else label_text(positive),
        now=now,
    )
    frame = require_task(session, frame, of_sets=False)
    return require_hierarchy(session, frame, given.hierarchy)


def insert_counts(
    session: Session,
    frame: DatasetRecord,
    facts: RunFacts,
    cases: CountedSamples,
    counted_on: str,
    *,
    now: datetime,
) -> tuple[RunRecord, bool]:
    """Store a finished run from counts and submit it for evaluation.

    Returns the run, and whether it is new: a client key finds the run for which it was used, which
    must have the same counts.
    """
    matrix = cases.matrix(frame.labels)
    again = already_opened(session, frame, facts)
    if again is not None:
        content = content_digest(cases, matrix)
        return require_same_content(again, frame, facts, content, "counts"), False
    return (
        _insert(
            session, frame, facts, matrix, LAYOUT, now=now, cases=cases, counted_on=counted_on
        ),
        True,
    )


def content_digest(cases: CountedSamples, matrix: ConfusionMatrix) -> str:
    """The digest of what was logged: that of the matrix if nothing else was counted."""
    return matrix.digest if cases.are_a_matrix else cases.digest(matrix.labels)


def labels_of(
    known: DatasetRecord | None,
    declared: LabelSet | None,
    given: GivenCounts | GivenPairedCounts,
) -> LabelSet:
    """The classes of counts: those of the dataset, the declared ones, or those that occur."""
    if known is not None:
        if declared is not None:
            require_same_labels(known, declared)
        return known.labels
    if declared is not None:
        return declared
    if given.ordinal:
        raise order_of_no_labels()
    if isinstance(given, GivenCounts):
        actual, predicted = given.actual, given.predicted
    else:
        actual = [each for table in given.tables for each in table.actual]
        predicted = [
            each
            for table in given.tables
            for values in table.predicted.values()
            for each in values
        ]
    return infer_label_set(
        ("actual", _names(actual, "actual")), ("predicted", _names(predicted, "predicted"))
    )


def _names(values: Sequence[object], field: str) -> set[str]:
    return {label_text(value, field_name=field) for value in values}
