"""Two runs on the same cases: their predictions side by side, case by case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.paired.joint import JointCounts, joint_counts
from offdiag.store import chunks, datasets, runs, truths
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.session import Session


@dataclass(frozen=True, slots=True)
class NotPaired:
    """Why two runs cannot be compared case by case."""

    why: str


def pair_evaluations(
    session: Session, first: StoredEvaluation, second: StoredEvaluation
) -> JointCounts | NotPaired:
    """Count (actual, first prediction, second prediction) over the cases both runs predicted.

    Both evaluations must be of the same version of the ground truth, and the runs must hold
    predictions; cases without a label are left out.
    """
    first_run, second_run = (
        runs.get_run(session, first.run_id),
        runs.get_run(session, second.run_id),
    )
    for run in (first_run, second_run):
        if run.source is not SourceOrientation.PREDICTIONS:
            return NotPaired(f"run {run.id} is a matrix without predictions")
    truth_id = first.truth_version_id
    if truth_id is None or truth_id != second.truth_version_id:
        return NotPaired("the runs were evaluated on different ground truth")
    labels = datasets.get_dataset(session, first_run.dataset_id).labels
    actual = truths.truth_codes(session, truth_id)
    predicted = [
        _in_truth_order(session, run.id, n_samples=len(actual), n_classes=len(labels))
        for run in (first_run, second_run)
    ]
    # Codes beyond the last class stand for "no label" and "no prediction".
    usable = np.logical_and.reduce([codes < len(labels) for codes in (actual, *predicted)])
    return joint_counts(
        actual=actual[usable],
        first=predicted[0][usable],
        second=predicted[1][usable],
        labels=labels,
    )


def _in_truth_order(
    session: Session, run_id: str, *, n_samples: int, n_classes: int
) -> NDArray[np.unsignedinteger[Any]]:
    """Predicted code of each sample of the truth, `n_classes` where there is no prediction."""
    codes = np.full(n_samples, n_classes, np.min_scalar_type(n_classes))
    for chunk in chunks.read_chunks(session, run_id, n_classes=n_classes):
        following = slice(chunk.start, chunk.start + len(chunk.predicted))
        codes[following if chunk.positions is None else chunk.positions] = chunk.predicted
    return codes
