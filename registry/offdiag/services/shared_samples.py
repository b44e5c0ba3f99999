"""Runs on the same samples: which can be compared, and their predictions in one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.texts import chosen_here, run_label
from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.domain.wording import listed
from offdiag.inputs.ids import SampleIds, common_places
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import differ, in_roomy_rows, is_labelled, masked
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel_runs.paired import PairedSets, paired_sets
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from offdiag.store import datasets, paired_counts, runs, truths
from offdiag.store.compared_runs import ComparedRun, LineageHead, Predicted
from offdiag.store.database import Session
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.predictions import in_truth_order, read_chunks
from offdiag.store.runs import RunRecord


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why runs are not compared, and the way out.

    `n_shared` is given where they could be compared on the examples they share, if that is
    asked for.
    """

    why: str
    hint: str
    n_shared: int | None = None


def refused(runs: Sequence[ComparedRun]) -> Refusal | None:
    """The first thing that keeps runs from being compared, whatever their examples are."""
    return _of_several_datasets(runs) or _still_open(runs)


def _of_several_datasets(runs: Sequence[ComparedRun]) -> Refusal | None:
    groups: dict[tuple[str, str], list[str]] = {}
    for position, run in enumerate(runs):
        groups.setdefault((run.project, run.dataset), []).append(run_label(position))
    if len(groups) == 1:
        return None
    several_projects = len({project for project, _ in groups}) > 1
    places = [
        f"{_listed(run_labels)} on “{dataset}”"
        + (f" of project “{project}”" if several_projects else "")
        for (project, dataset), run_labels in groups.items()
    ]
    labels = {run.labels.digest for run in runs}
    also = ", and their classes differ too" if len(labels) > 1 else ""
    return Refusal(
        f"These runs are on different datasets: {_listed(places)}{also}.",
        "Choose runs of one dataset; runs on other examples cannot be compared.",
    )


def _still_open(runs: Sequence[ComparedRun]) -> Refusal | None:
    still_open = (at for at, run in enumerate(runs) if run.state is RunState.OPEN)
    run_labels = [run_label(at) for at in still_open]
    if not run_labels:
        return None
    be = "is" if len(run_labels) == 1 else "are"
    return Refusal(
        f"{_listed(run_labels)} {be} still open and may take more predictions.",
        "Finish what is open, then compare.",
    )


def refused_with_weights(runs: Sequence[ComparedRun]) -> Refusal | None:
    """Why runs of which some have sample weights are not compared; None where none has."""
    weighted = [run_label(at) for at, run in enumerate(runs) if run.is_weighted]
    if not weighted:
        return None
    if len(weighted) < len(runs):
        verb = "has" if len(weighted) == 1 else "have"
        return Refusal(
            f"{_listed(weighted)} {verb} sample weights, the others have none.",
            "Log all with the same sample_weight=, or all without.",
        )
    if len(runs) > 2:
        return Refusal(
            "These runs have sample weights, of which two are compared at once.",
            "Choose two of them.",
        )
    return None


def refused_with_chosen(runs: Sequence[ComparedRun]) -> Refusal | None:
    """Why three or more runs are not compared where a threshold was chosen on their examples."""
    chosen = [run_label(at) for at, run in enumerate(runs) if run.is_chosen_here]
    if not chosen or len(runs) < 3:
        return None
    why = chosen_here(chosen)
    return Refusal(
        f"{why[0].upper()}{why[1:]}, so the runs cannot be ranked.",
        f"Leave {'them' if len(chosen) > 1 else 'it'} out, or look at two runs.",
    )


def other_examples(
    labels_by_truth: Sequence[Sequence[str]], *, n_each: Sequence[int], n_shared: int | None
) -> Refusal:
    """Runs that were logged with different samples; `n_shared` None where it is unknown."""
    sizes = _listed([f"{n:,}" for n in n_each])
    if n_shared is None:
        groups = "; ".join(_listed(run_labels) for run_labels in labels_by_truth)
        return Refusal(
            f"Not paired: the runs were logged with different ground truth ({groups}) of "
            f"{sizes} examples, which have no identifiers to find the shared ones by.",
            "Log runs with the same y_true, or with sample_ids=.",
        )
    if n_shared == 0:
        return Refusal(
            f"Not paired: {sizes} examples, none of them shared.",
            "Choose runs that predicted the same examples.",
        )
    return Refusal(
        f"Not paired: {sizes} examples, {n_shared:,} shared.",
        "The runs can be compared on the shared ones alone.",
        n_shared,
    )


NOTHING_LABELLED = Refusal(
    "None of the examples has a label yet, so no prediction can be evaluated.",
    "`offdiag truth revise` adds labels; the comparison then needs nothing else.",
)
NO_SAMPLES_TO_CHOOSE_FROM = Refusal(
    "One of the runs is a matrix without predictions, so it is not known which of its examples "
    "are in a slice.",
    "Compare all examples, or runs with predictions.",
)
NO_SAMPLES_TO_SHOW = Refusal(
    "One of the runs is a matrix without predictions, so there are no examples to show.",
    "Log the predictions, or look at the differences of the two matrices.",
)
NOTHING_IN_SLICE = Refusal(
    "No labelled example is in this slice.", "Choose another slice, or all examples."
)


def _listed(words: Sequence[str]) -> str:
    return listed(words, at_most=len(words))


Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SharedSamples:
    """How the examples of a comparison came about.

    `n_each` counts the samples of each lineage of truth, in the slice that was asked for where
    there is one lineage only, and `n_shared` those that all have.
    `n_unlabelled` of them have no label, `n_relabelled` different ones in different lineages;
    both are left out, and `n_compared` remain.
    """

    n_each: tuple[int, ...]
    n_shared: int
    n_unlabelled: int
    n_relabelled: int
    n_compared: int

    @property
    def are_the_same(self) -> bool:
        """Whether every run predicted exactly these examples."""
        return all(n == self.n_shared for n in self.n_each)


@dataclass(frozen=True)
class Aligned:
    """Labelled examples that all runs predicted, n of them, in the order of the first truth.

    `predicted` are codes, or packed sets of labels, by run; `rows` say which of a run's
    predictions each is, in the order they were logged, and `starts` with which of them its
    chunks begin. `places` are the places of the examples in the truth that `lineage` leads to.
    """

    actual: Codes
    predicted: Mapping[str, Codes]
    rows: Mapping[str, Places]
    starts: Mapping[str, Places]
    lineage: LineageHead
    places: Places
    samples: SharedSamples


def places_in_lineages(
    lineages: Sequence[LineageHead], ids: Mapping[int, SampleIds]
) -> dict[int, Places] | None:
    """Where the samples stand that all lineages have, by root; None where it is unknown."""
    if len(lineages) == 1:
        return {lineages[0].root_id: np.arange(lineages[0].n_samples)}
    if any(each.root_id not in ids for each in lineages):
        return None
    shared = common_places([ids[each.root_id] for each in lineages])
    return {each.root_id: at for each, at in zip(lineages, shared, strict=True)}


def aligned(
    runs: Sequence[ComparedRun],
    lineages: Sequence[LineageHead],
    places: Mapping[int, Places],
    truths: Mapping[int, Codes],
    predictions: Mapping[str, Predicted],
    *,
    n_classes: int,
    n_each: tuple[int, ...],
) -> Aligned:
    """Put the predictions of runs, of which each has some, beside the labels.

    `places` are those of the wanted samples by lineage, all of one length.
    """
    labels = [truths[each.id][places[each.root_id]] for each in lineages]
    has_label = np.logical_and.reduce([is_labelled(codes, n_classes) for codes in labels])
    agrees = np.logical_and.reduce([~differ(codes, labels[0], n_classes) for codes in labels])
    kept = has_label & agrees
    rows = {}
    for run in runs:
        if run.truth is not None:
            logged = _rows_in_order(predictions[run.id].positions, run.truth.n_samples)
            rows[run.id] = logged[places[run.truth.root_id]][kept]
    return Aligned(
        actual=in_roomy_rows(labels[0][kept], n_classes),
        predicted={
            run_id: in_roomy_rows(predictions[run_id].codes[at], n_classes)
            for run_id, at in rows.items()
        },
        rows=rows,
        starts={run_id: predictions[run_id].starts for run_id in rows},
        lineage=lineages[0],
        places=places[lineages[0].root_id][kept],
        samples=SharedSamples(
            n_each=n_each,
            n_shared=len(kept),
            n_unlabelled=int(np.count_nonzero(~has_label)),
            n_relabelled=int(np.count_nonzero(has_label & ~agrees)),
            n_compared=int(np.count_nonzero(kept)),
        ),
    )


def _rows_in_order(positions: NDArray[np.integer[Any]], n_samples: int) -> Places:
    """Which prediction each sample of the truth has; a run has one for every sample."""
    rows = np.empty(n_samples, np.int64)
    rows[positions] = np.arange(len(positions))
    return rows


def weights_of(session: Session, found: Aligned, run: ComparedRun) -> NDArray[np.float64]:
    """Weights of the aligned samples in a run, (n,)."""
    chunks = read_chunks(session, run.id, n_classes=len(run.labels))
    logged = [chunk.weight for chunk in chunks if chunk.weight is not None]
    return np.asarray(np.concatenate(logged)[found.rows[run.id]])


@dataclass(frozen=True, slots=True)
class NotPaired:
    """Why two runs cannot be compared sample by sample."""

    why: str


def pair_evaluations(
    session: Session,
    first: StoredEvaluation,
    second: StoredEvaluation,
    *,
    members: NDArray[np.bool_] | None = None,
) -> Paired | NotPaired:
    """Pair the runs of two evaluations, which must be of one version of the ground truth.

    With `members` (n_samples,) on these samples of the truth alone.
    """
    one, other = (runs.get_run(session, each.run_id) for each in (first, second))
    is_weighted = one.is_weighted or other.is_weighted
    truth_id = first.truth_version_id
    if truth_id is not None and truth_id != second.truth_version_id and not is_weighted:
        return _OTHER_TRUTH
    return pair_runs(session, one, other, truth_id=truth_id, members=members)


def pair_runs(
    session: Session,
    first: RunRecord,
    second: RunRecord,
    *,
    truth_id: int | None,
    members: NDArray[np.bool_] | None = None,
) -> Paired | NotPaired:
    """Count (actual, first prediction, second prediction) over the samples both runs predicted.

    Of multi-label runs the sets of these samples, packed.

    Both runs must hold predictions and have been logged with a version of the ground truth that
    `truth_id` descends from, or it itself. Samples without a label are left out. Runs that were
    counted together are paired by their counts, on all samples. A run whose threshold was chosen
    on these samples is not paired: no difference from it is evidence.
    """
    if first.is_weighted or second.is_weighted:
        return NotPaired(NOT_WEIGHTED)
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
    if run.source is not SourceOrientation.PREDICTIONS:
        return f"run {run.id} is a matrix without predictions"
    if run.is_chosen_here:
        return chosen_here([f"run {run.id}"])
    return None


NOT_WEIGHTED = "examples of the runs have weights, and only differences of counts are judged here"


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


_OTHER_TRUTH = NotPaired("the runs were evaluated on different ground truth")


def _lineage_of(session: Session, run: RunRecord) -> int | None:
    if run.truth_version_id is None:
        return None
    return truths.get_truth(session, run.truth_version_id).root_id


Paired: TypeAlias = JointCounts | PairedSets
"""Two runs on the same samples."""


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
    # Codes beyond the last class stand for "no label" and "no prediction".
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
