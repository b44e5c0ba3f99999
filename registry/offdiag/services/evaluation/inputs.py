"""What the evaluation of a run is computed from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.arrays.labels import Codes
from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counting import count_pairs
from offdiag.metrics.probabilistic.forecasts import Forecasts
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.store import chunks, datasets, matrices, runs, truths
from offdiag.store.datasets import DatasetRecord
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session


@dataclass(frozen=True)
class EvaluationInputs:
    """Everything an evaluation depends on; `digest` changes whenever one of it does."""

    run: RunRecord
    dataset: DatasetRecord
    matrix: ConfusionMatrix
    forecasts: Forecasts | None
    digest: str


def read_inputs(session: Session, run_id: str) -> EvaluationInputs:
    """Read the inputs of one run. Raises `NotFound` for an unknown run."""
    run = runs.get_run(session, run_id)
    dataset = datasets.get_dataset(session, run.dataset_id)
    return EvaluationInputs(
        run=run,
        dataset=dataset,
        matrix=_matrix(session, run, dataset),
        forecasts=_forecasts(session, run, dataset),
        digest=_digest(session, run),
    )


def _matrix(session: Session, run: RunRecord, dataset: DatasetRecord) -> ConfusionMatrix:
    if run.source is not SourceOrientation.PREDICTIONS:
        return matrices.read_matrix(session, run.id, dataset.labels, run.source)
    n_classes = len(dataset.labels)
    parts = chunks.partial_counts(session, run.id, n_classes=n_classes)
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return ConfusionMatrix(_recount(session, run, n_classes), dataset.labels)
    total = np.zeros((n_classes, n_classes), dtype=np.int64)
    for part in known:
        total += part
    return ConfusionMatrix(total, dataset.labels)


def _recount(session: Session, run: RunRecord, n_classes: int) -> NDArray[np.int64]:
    truth = _truth_codes(session, run)
    total = np.zeros((n_classes, n_classes), dtype=np.int64)
    for chunk in chunks.read_chunks(session, run.id, n_classes=n_classes):
        if chunk.counts is None:
            total += count_pairs(chunk.actual_in(truth), chunk.predicted, n_classes=n_classes)
        else:
            total += chunk.counts
    return total


def _forecasts(session: Session, run: RunRecord, dataset: DatasetRecord) -> Forecasts | None:
    scores = chunks.read_scores(session, run.id)
    if scores is None:
        return None
    truth = _truth_codes(session, run)
    parts = chunks.read_chunks(session, run.id, n_classes=len(dataset.labels))
    positive = dataset.positive_label
    return Forecasts(
        np.concatenate([part.actual_in(truth) for part in parts]),
        scores,
        n_classes=len(dataset.labels),
        positive=None if positive is None else dataset.labels.index[positive],
    )


def _truth_codes(session: Session, run: RunRecord) -> Codes:
    assert run.truth_version_id is not None  # noqa: S101  # Finishing predictions sets it.
    return truths.truth_codes(session, run.truth_version_id)


def _digest(session: Session, run: RunRecord) -> str:
    truth = (
        ""
        if run.truth_version_id is None
        else truths.get_truth(session, run.truth_version_id).digest
    )
    facts = f"{run.content_digest}\n{truth}\n{SUITE_VERSION}"
    return hashlib.sha256(facts.encode()).hexdigest()
