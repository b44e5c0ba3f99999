"""What the evaluation of a run is computed from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.arrays.labels import Codes
from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counting import count_labelled_pairs
from offdiag.metrics.probabilistic.forecasts import Forecasts
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.store import chunks, datasets, matrices, runs, truth_versions, truths
from offdiag.store.datasets import DatasetRecord
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session
from offdiag.store.truth_versions import TruthRecord


@dataclass(frozen=True)
class EvaluationInputs:
    """Everything an evaluation depends on; `digest` changes whenever one of it does.

    `truth` is the version the cases are scored with, `n_cases` the number of cases whether
    they have a label in it or not. The matrix counts those that have.
    """

    run: RunRecord
    dataset: DatasetRecord
    truth: TruthRecord | None
    n_cases: int
    matrix: ConfusionMatrix
    forecasts: Forecasts | None
    digest: str


def read_inputs(session: Session, run_id: str) -> EvaluationInputs:
    """Read the inputs of one run. Raises `NotFound` for an unknown run."""
    run = runs.get_run(session, run_id)
    dataset = datasets.get_dataset(session, run.dataset_id)
    truth = truth_that_counts(session, run)
    return EvaluationInputs(
        run=run,
        dataset=dataset,
        truth=truth,
        n_cases=run.n_predictions,
        matrix=_matrix(session, run, dataset, truth),
        forecasts=_forecasts(session, run, dataset, truth),
        digest=input_digest(run, truth),
    )


def truth_that_counts(session: Session, run: RunRecord) -> TruthRecord | None:
    """The version a run is scored with: the newest correction of the one it was logged with.

    An uploaded matrix cannot be counted again, so it stays with the version it was compared
    with, if there was one.
    """
    if run.truth_version_id is None:
        return None
    logged_with = truth_versions.get_truth(session, run.truth_version_id)
    if run.source is not SourceOrientation.PREDICTIONS:
        return logged_with
    return truth_versions.head_of(session, logged_with)


def input_digest(run: RunRecord, truth: TruthRecord | None) -> str:
    """SHA-256 of what goes into an evaluation: predictions, truth version and suite.

    A correction that was taken back is a version of its own although it says what an older one
    said; its number tells the two apart.
    """
    version = "" if truth is None else truth.digest
    if truth is not None and truth.parent_id is not None:
        version += f" revised as {truth.number}"
    facts = f"{run.content_digest}\n{version}\n{SUITE_VERSION}"
    return hashlib.sha256(facts.encode()).hexdigest()


def _matrix(
    session: Session, run: RunRecord, dataset: DatasetRecord, truth: TruthRecord | None
) -> ConfusionMatrix:
    if run.source is not SourceOrientation.PREDICTIONS:
        return matrices.read_matrix(session, run.id, dataset.labels, run.source)
    n_classes = len(dataset.labels)
    counts = None
    if truth is not None and truth.id == run.truth_version_id:
        counts = _sum_of_parts(session, run, n_classes)
    if counts is None:
        counts = _count(session, run, _codes_of(session, truth), n_classes)
    return ConfusionMatrix(counts, dataset.labels)


def _sum_of_parts(session: Session, run: RunRecord, n_classes: int) -> NDArray[np.int64] | None:
    """The sum of the partial matrices that were counted when the run was logged.

    None when a chunk has none, because it would be larger than the chunk.
    """
    total = np.zeros((n_classes, n_classes), dtype=np.int64)
    for part in chunks.partial_counts(session, run.id, n_classes=n_classes):
        if part is None:
            return None
        total += part
    return total


def _count(session: Session, run: RunRecord, actual: Codes, n_classes: int) -> NDArray[np.int64]:
    total = np.zeros((n_classes, n_classes), dtype=np.int64)
    for chunk in chunks.read_chunks(session, run.id, n_classes=n_classes):
        total += count_labelled_pairs(
            chunk.actual_in(actual), chunk.predicted, n_classes=n_classes
        )
    return total


def _forecasts(
    session: Session, run: RunRecord, dataset: DatasetRecord, truth: TruthRecord | None
) -> Forecasts | None:
    """Scores of the cases that have a label, in the order they were logged in."""
    scores = chunks.read_scores(session, run.id)
    if scores is None:
        return None
    n_classes = len(dataset.labels)
    codes = _codes_of(session, truth)
    parts = chunks.read_chunks(session, run.id, n_classes=n_classes)
    actual = np.concatenate([part.actual_in(codes) for part in parts])
    labelled = actual < n_classes
    positive = dataset.positive_label
    return Forecasts(
        actual if labelled.all() else actual[labelled],
        scores if labelled.all() else scores[labelled],
        n_classes=n_classes,
        positive=None if positive is None else dataset.labels.index[positive],
    )


def _codes_of(session: Session, truth: TruthRecord | None) -> Codes:
    assert truth is not None  # noqa: S101  # Finishing predictions sets it.
    return truths.truth_codes(session, truth.id)
