"""Pairing two runs sample by sample: joint counts of their predictions, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.texts import chosen_here
from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import Reason
from offdiag.inputs.partial_labels import in_roomy_rows, is_labelled, masked
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel_runs.paired import PairedSets, paired_sets
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from offdiag.store import datasets, paired_counts, runs, truths
from offdiag.store.database import Session
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.predictions import in_truth_order
from offdiag.store.runs import RunRecord


@dataclass(frozen=True, slots=True)
class NotPaired:
    """Why two runs cannot be compared sample by sample.

    `undefined` is the reason if values of the two runs cannot even be subtracted, else None.
    """

    why: str
    undefined: Reason | None = None


def pair_evaluations(
    session: Session,
    first: StoredEvaluation,
    second: StoredEvaluation,
    *,
    members: NDArray[np.bool_] | None = None,
) -> Paired | NotPaired:
    """Pair the runs of two evaluations; not possible on two versions of the ground truth.

    With `members` (n_samples,), on these samples of the truth alone.
    """
    one, other = (runs.get_run(session, each.run_id) for each in (first, second))
    is_weighted = one.is_weighted or other.is_weighted
    truth_id = first.truth_version_id
    if not is_weighted and (on_other_labels := _on_other_labels(session, first, second)):
        return on_other_labels
    return pair_runs(session, one, other, truth_id=truth_id, members=members)


def _on_other_labels(
    session: Session, first: StoredEvaluation, second: StoredEvaluation
) -> NotPaired | None:
    """The refusal for evaluations on two versions of the ground truth, None if one is on none."""
    ids = first.truth_version_id, second.truth_version_id
    if ids[0] is None or ids[1] is None or ids[0] == ids[1]:
        return None
    one, other = (truths.get_truth(session, each) for each in ids if each is not None)
    if one.root_id != other.root_id:
        return _OTHER_TRUTH
    return NotPaired(
        f"run {first.run_id} was evaluated on labels v{one.number}, "
        f"run {second.run_id} on labels v{other.number}",
        Reason.DIFFERENCE_OTHER_LABELS,
    )


def pair_runs(
    session: Session,
    first: RunRecord,
    second: RunRecord,
    *,
    truth_id: int | None,
    members: NDArray[np.bool_] | None = None,
) -> Paired | NotPaired:
    """Count (actual, first prediction, second prediction) over the samples both runs predicted.

    For multi-label runs, returns the packed label sets of these samples.

    Both runs must have predictions and have been logged with `truth_id` or a version of the ground
    truth from which it descends. Samples without a label are left out. Runs that were counted
    together are paired by their counts, on all samples. A run whose threshold was chosen on these
    samples is not paired: no difference from it is evidence.
    """
    if first.is_weighted or second.is_weighted:
        return _NOT_WEIGHTED
    if members is None and first.source is second.source is not SourceOrientation.PREDICTIONS:
        counted = _joint_of_counts(session, first, second)
        if counted is not None:
            return counted
    for run in (first, second):
        if (why := _why_unpaired(run)) is not None:
            return NotPaired(why)
    if truth_id is None or len({first.dataset_id, second.dataset_id}) > 1:
        return _OTHER_TRUTH
    lineage = truths.get_truth(session, truth_id).root_id
    if any(_lineage_of(session, run) != lineage for run in (first, second)):
        return _OTHER_TRUTH
    dataset = datasets.get_dataset(session, first.dataset_id)
    return _paired(session, (first, second), truth_id, dataset.labels, members)


def _why_unpaired(run: RunRecord) -> str | None:
    if not run.has_predictions:
        return f"run {run.id} is a matrix without predictions"
    if run.is_chosen_here:
        return chosen_here([f"run {run.id}"])
    return None


_NOT_WEIGHTED = NotPaired(
    "examples of the runs have weights, and only differences of counts are judged here",
    Reason.DIFFERENCE_NOT_WEIGHTED,
)


def _joint_of_counts(session: Session, first: RunRecord, second: RunRecord) -> JointCounts | None:
    ids = [first.id, second.id]
    tables = list(paired_counts.paired_among(session, ids))
    if not tables:
        return None
    samples = paired_counts.read(session, tables[0], ids)
    return joint_counts(
        actual=samples.actual,
        first=samples.predicted[first.id],
        second=samples.predicted[second.id],
        labels=datasets.get_dataset(session, first.dataset_id).labels,
        counts=samples.sizes,
    )


_OTHER_TRUTH = NotPaired(
    "the runs were evaluated on different ground truth", Reason.DIFFERENCE_OTHER_LABELS
)


def _lineage_of(session: Session, run: RunRecord) -> int | None:
    if run.truth_version_id is None:
        return None
    return truths.get_truth(session, run.truth_version_id).root_id


Paired: TypeAlias = JointCounts | PairedSets
"""Two runs on the same samples: joint counts, or sets of multi-label runs."""


def _paired(
    session: Session,
    pair: tuple[RunRecord, RunRecord],
    truth_id: int,
    labels: LabelSet,
    members: NDArray[np.bool_] | None,
) -> Paired:
    actual = truths.truth_codes(session, truth_id)
    if members is not None:
        actual = masked(actual, members, len(labels))
    found = in_truth_order(
        session, [run.id for run in pair], n_samples=len(actual), n_classes=len(labels)
    )
    predicted = [found[run.id] for run in pair]
    # Codes beyond the last class mean "no label" or "no prediction".
    usable = np.logical_and.reduce(
        [is_labelled(codes, len(labels)) for codes in (actual, *predicted)]
    )
    if are_sets(actual):
        known = (in_roomy_rows(codes[usable], len(labels)) for codes in (actual, *predicted))
        return paired_sets(*known, labels=labels)
    return joint_counts(
        actual=actual[usable],
        first=predicted[0][usable],
        second=predicted[1][usable],
        labels=labels,
    )
