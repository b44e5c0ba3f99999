"""Logging cases that were counted where they lie: the matrix of a run, and of its slices."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from offdiag.domain.labels import LabelSet, infer_label_set, label_text, refuse_fractions
from offdiag.domain.orientation import OrientationEvidence, SourceOrientation
from offdiag.domain.runs import RunFacts, new_run_id, require_name
from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.counted_cases import CountedCases, counted_cases
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import verify_orientation
from offdiag.services.ingest.classes import require_same_labels
from offdiag.services.ingest.dataset import project_and_dataset
from offdiag.services.ingest.given import GivenCounts
from offdiag.services.ingest.hierarchy import settle_hierarchy
from offdiag.services.ingest.opening import already_opened
from offdiag.services.ingest.task import settle_task
from offdiag.services.work.submit import submit_evaluation
from offdiag.store import datasets, runs, truths, uploads
from offdiag.store import uploads as kept
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.failures import after_races
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord

LAYOUT = SourceOrientation.ACTUAL_ROWS
"""How a matrix that is filled here stands in the store."""


def log_counts(
    database: Database, *, facts: RunFacts, dataset: str, given: GivenCounts
) -> RunRecord:
    """Store a finished run of counts and ask for its evaluation: everything, or nothing.

    The labels are the declared ones, those of the dataset, or else the sorted ones that occur;
    then actual and predicted classes must have one in common.
    The run is one without predictions, as after `log_matrix`; with slice columns its counts are
    kept by their values, so that any slice can be evaluated. Raises `InvalidInput` for counts
    that are none and `Conflict` for contradictions to what is stored.
    """
    require_name(given.counted_on, "counted_on")
    refuse_fractions(given.actual, field="actual")
    refuse_fractions(given.predicted, field="predicted")
    declared = (
        None if given.labels is None else LabelSet.declared(given.labels, ordinal=given.ordinal)
    )

    def transaction() -> RunRecord:
        with database.write() as session:
            return _log(
                session,
                facts=facts,
                dataset=dataset,
                given=given,
                declared=declared,
                now=database.clock(),
            )

    return after_races(transaction, finds_itself=facts.client_key is not None)


def _log(
    session: Session,
    *,
    facts: RunFacts,
    dataset: str,
    given: GivenCounts,
    declared: LabelSet | None,
    now: datetime,
) -> RunRecord:
    known = datasets.find_dataset(session, project=facts.project, name=dataset)
    labels = _labels_of(known, declared, given)
    cases = counted_cases(
        actual=given.actual,
        predicted=given.predicted,
        sizes=given.sizes,
        slices=given.slices,
        labels=labels,
    )
    positive = given.positive_label
    frame = project_and_dataset(
        session,
        project=facts.project,
        name=dataset,
        labels=labels,
        positive_label=None if positive is None else label_text(positive),
        now=now,
    )
    frame = settle_task(session, frame, of_sets=False)
    frame = settle_hierarchy(session, frame, given.hierarchy)
    matrix = cases.matrix(labels)
    content = content_digest(cases, matrix)
    again = already_opened(session, frame, facts)
    if again is not None:
        return _same_counts(again, content)
    truth = truths.latest_truth(session, frame.id)
    run = runs.insert_run(
        session,
        run_id=new_run_id(),
        project_id=frame.project_id,
        dataset_id=frame.id,
        facts=facts,
        source=LAYOUT,
        now=now,
    )
    uploads.insert_matrix(session, run.id, matrix, LAYOUT)
    kept.insert_counted_cases(session, run.id, cases)
    runs.mark_finished(
        session,
        run.id,
        truth_version_id=None if truth is None else truth.id,
        n_predictions=matrix.total,
        score_columns=0,
        content_digest=content,
        orientation=_evidence(matrix, truth, given.counted_on),
        now=now,
    )
    submit_evaluation(session, run.id)
    return runs.get_run(session, run.id)


def content_digest(cases: CountedCases, matrix: ConfusionMatrix) -> str:
    """The digest of what was logged: of the matrix alone where nothing else was counted."""
    return cases.digest(matrix.labels) if cases.slices else matrix.digest


def _labels_of(
    known: DatasetRecord | None, declared: LabelSet | None, given: GivenCounts
) -> LabelSet:
    if known is not None:
        if declared is not None:
            require_same_labels(known, declared)
        return known.labels
    if declared is not None:
        return declared
    if given.ordinal:
        raise InvalidInput(
            "an order was claimed but no labels were declared.",
            field="ordinal",
            hint="Give labels= in their order.",
        )
    return infer_label_set(
        ("actual", _names(given.actual, "actual")),
        ("predicted", _names(given.predicted, "predicted")),
    )


def _names(values: Sequence[object], field: str) -> set[str]:
    return {label_text(value, field_name=field) for value in values}


def _evidence(
    matrix: ConfusionMatrix, truth: TruthRecord | None, counted_on: str
) -> OrientationEvidence:
    known = None if truth is None or truth.is_partial else truth.class_counts
    found = verify_orientation(matrix.counts, source=LAYOUT, class_counts=known)
    return found.counted_by(counted_on)


def _same_counts(known: RunRecord, content: str) -> RunRecord:
    if known.content_digest != content:
        raise Conflict(
            f"client key {known.client_key!r} belongs to run {known.id}, which holds other "
            "counts.",
            field="client_key",
            hint="Use a new key for a new run; a retry must send the same counts.",
        )
    return known
