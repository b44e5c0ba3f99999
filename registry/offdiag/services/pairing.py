"""Two runs on the same cases: their predictions side by side, case by case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.metrics.paired.joint import JointCounts, joint_counts
from offdiag.store import datasets, runs, truths
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.predictions import in_truth_order
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session


@dataclass(frozen=True, slots=True)
class NotPaired:
    """Why two runs cannot be compared case by case."""

    why: str


def pair_evaluations(
    session: Session, first: StoredEvaluation, second: StoredEvaluation
) -> JointCounts | NotPaired:
    """Pair the runs of two evaluations, which must be of one version of the ground truth."""
    if first.truth_version_id is not None and first.truth_version_id != second.truth_version_id:
        return _OTHER_TRUTH
    return pair_runs(
        session,
        runs.get_run(session, first.run_id),
        runs.get_run(session, second.run_id),
        truth_id=first.truth_version_id,
    )


def pair_runs(
    session: Session, first: RunRecord, second: RunRecord, *, truth_id: int | None
) -> JointCounts | NotPaired:
    """Count (actual, first prediction, second prediction) over the cases both runs predicted.

    Both runs must hold predictions and have been logged with a version of the ground truth that
    `truth_id` descends from, or it itself. Cases without a label are left out.
    """
    for run in (first, second):
        if run.source is not SourceOrientation.PREDICTIONS:
            return NotPaired(f"run {run.id} is a matrix without predictions")
    if truth_id is None or len({first.dataset_id, second.dataset_id}) > 1:
        return _OTHER_TRUTH
    lineage = truths.get_truth(session, truth_id).root_id
    if any(_lineage_of(session, run) != lineage for run in (first, second)):
        return _OTHER_TRUTH
    dataset = datasets.get_dataset(session, first.dataset_id)
    if dataset.task is Task.MULTILABEL:
        return NotPaired("their cases have sets of labels")
    return _joint(session, first, second, truth_id, dataset.labels)


_OTHER_TRUTH = NotPaired("the runs were evaluated on different ground truth")


def _lineage_of(session: Session, run: RunRecord) -> int | None:
    if run.truth_version_id is None:
        return None
    return truths.get_truth(session, run.truth_version_id).root_id


def _joint(
    session: Session, first: RunRecord, second: RunRecord, truth_id: int, labels: LabelSet
) -> JointCounts:
    actual = truths.truth_codes(session, truth_id)
    found = in_truth_order(
        session, [first.id, second.id], n_samples=len(actual), n_classes=len(labels)
    )
    predicted = [found[run.id] for run in (first, second)]
    # Codes beyond the last class stand for "no label" and "no prediction".
    usable = np.logical_and.reduce([codes < len(labels) for codes in (actual, *predicted)])
    return joint_counts(
        actual=actual[usable],
        first=predicted[0][usable],
        second=predicted[1][usable],
        labels=labels,
    )
