"""The computation of a comparison from the aligned predictions of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.by_slice import SliceChanges
from offdiag.comparison.many import ManyComparison, compare_many, compare_together
from offdiag.comparison.other_labels import with_left_out, without_differences
from offdiag.comparison.pair import (
    PairComparison,
    compare_paired,
    compare_unpaired,
    without_tests,
)
from offdiag.comparison.sets_and_weights import (
    compare_many_sets,
    compare_paired_sets,
    compare_weighted,
)
from offdiag.comparison.texts import run_label
from offdiag.domain.slices import Slice
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel_runs.paired import PairedSets, paired_sets
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.paired.scores import ScoreDifference, score_differences
from offdiag.metrics.paired.weighted import WeightedPair
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.comparisons.by_slice import (
    ComparedColumns,
    compare_by_slice,
)
from offdiag.services.comparisons.comparability import (
    NO_SAMPLES_TO_CHOOSE_FROM,
    NOTHING_IN_SLICE,
    NOTHING_LABELLED,
    Refusal,
    hidden_by_rest,
    hidden_by_some,
    label_versions,
    on_the_same_labels,
    other_examples,
)
from offdiag.services.comparisons.counted_together import CountedTogether
from offdiag.services.comparisons.shared_samples import (
    Aligned,
    SharedSamples,
    aligned,
    places_in_lineages,
    rests_of,
    rests_of_some,
    sizes_of,
    weights_of,
)
from offdiag.services.evaluation.inputs import members_among
from offdiag.services.small_groups import suppressed_below
from offdiag.store import compared_runs as queries
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Session
from offdiag.store.predictions import scores_of
from offdiag.store.slices import SliceChoices
from offdiag.store.truths import TruthRecord, sample_ids_of, truth_codes_of


@dataclass(frozen=True)
class ComparisonRequest:
    """Everything a comparison depends on."""

    runs: tuple[ComparedRun, ...]
    part: Slice | None
    choices: SliceChoices
    on_shared: bool
    confidence: float
    by: ComparedColumns | None = None
    counted: CountedTogether | None = None

    @property
    def on_the_same_labels(self) -> tuple[int, ...]:
        """Positions of the runs that are compared with each other."""
        together = () if self.counted is None else self.counted.run_ids
        return on_the_same_labels(self.runs, together)

    @property
    def key(self) -> tuple[object, ...]:
        """The request by content; a correction that was undone counts as a different truth.

        It has run ids for runs counted together: other runs may have the same counts.
        """
        return (
            tuple((run.content_digest, run.source, run.score_columns) for run in self.runs),
            tuple(run.is_chosen_here for run in self.runs),
            None if self.counted is None else tuple(run.id for run in self.runs),
            tuple(None if run.truth is None else run.truth.id for run in self.runs),
            self.runs[0].positive_label,
            str(self.part or ""),
            self.on_shared,
            self.confidence,
            None if self.by is None else self.by.digest,
            suppressed_below(),
            SUITE_VERSION,
        )


def read_aligned(
    session: Session, asked: ComparisonRequest, runs: Sequence[ComparedRun]
) -> Aligned | Refusal:
    """Align the predictions of runs; refused if their samples differ and `on_shared` is off."""
    lineages = list({run.truth.root_id: run.truth for run in runs if run.truth}.values())
    kinds = {each.root_id: each.id_kind for each in lineages}
    ids = sample_ids_of(session, kinds) if len(lineages) > 1 else {}
    places = places_in_lineages(lineages, ids)
    n_shared = None if places is None else len(places[lineages[0].root_id])
    if places is None or n_shared == 0 or (len(lineages) > 1 and not asked.on_shared):
        return other_examples(
            _labels_by_truth(asked.runs, lineages),
            n_each=[each.n_samples for each in lineages],
            n_shared=n_shared,
        )
    n_each = tuple(each.n_samples for each in lineages)
    n_classes = len(runs[0].labels)
    truths = truth_codes_of(session, [each.id for each in lineages])
    sizes = sizes_of(session, lineages)
    rests = rests_of(sizes, lineages, places, truths, n_classes=n_classes)
    labels = _labels_by_truth(asked.runs, lineages)
    hidden = hidden_by_rest(rests, asked.part, labels) or hidden_by_some(
        rests_of_some(sizes, lineages, ids, truths, n_classes=n_classes), asked.part, labels
    )
    if hidden is not None:
        return hidden
    if asked.part is not None:
        members = members_among(asked.choices, asked.part, n_samples=lineages[0].n_samples)
        chosen = members[places[lineages[0].root_id]]
        places = {root_id: at[chosen] for root_id, at in places.items()}
        n_each = (int(chosen.sum()),) if len(lineages) == 1 else n_each
    found = aligned(
        runs,
        lineages,
        places,
        truths,
        queries.predictions_of(session, [run.id for run in runs]),
        n_classes=n_classes,
        n_each=n_each,
    )
    return replace(found, rests=rests)


def _labels_by_truth(
    runs: Sequence[ComparedRun], lineages: Sequence[TruthRecord]
) -> list[list[str]]:
    return [
        [
            run_label(position)
            for position, run in enumerate(runs)
            if run.truth is not None and run.truth.root_id == lineage.root_id
        ]
        for lineage in lineages
    ]


LARGEST_SCORES = 20_000_000
"""Most scores of both runs together for comparing them: what fits beside a web request."""

Result = PairComparison | ManyComparison


@dataclass(frozen=True)
class Compared:
    """The result of a comparison, or why there is none; `samples` is None without predictions."""

    result: Result | None
    samples: SharedSamples | None
    refusal: Refusal | None = None
    by_slice: SliceChanges | None = None


def compute(session: Session, asked: ComparisonRequest) -> Compared:
    """Compare runs for which only their samples can still be a reason for refusal."""
    chosen_here = tuple(at for at, run in enumerate(asked.runs) if run.is_chosen_here)
    # By slice there would be nothing but tests, which are removed in this case.
    found = _compute(session, replace(asked, by=None) if chosen_here else asked)
    if isinstance(found.result, PairComparison) and len(asked.on_the_same_labels) < 2:
        versions = label_versions(asked.runs)
        return Compared(without_differences(found.result, on_labels=versions), found.samples)
    if chosen_here and isinstance(found.result, PairComparison):
        return Compared(without_tests(found.result, chosen_here=chosen_here), found.samples)
    return found


def _compute(session: Session, asked: ComparisonRequest) -> Compared:
    runs = asked.runs
    if asked.counted is not None:
        return _compute_counted(asked, asked.counted)
    predicting = [run for run in runs if run.has_predictions]
    if asked.part is not None and len(predicting) < len(runs):
        return Compared(None, None, NO_SAMPLES_TO_CHOOSE_FROM)
    side_by_side = read_aligned(session, asked, predicting) if predicting else None
    if isinstance(side_by_side, Refusal):
        return Compared(None, None, side_by_side)
    if side_by_side is not None and side_by_side.samples.n_compared == 0:
        nothing = NOTHING_LABELLED if asked.part is None else NOTHING_IN_SLICE
        return Compared(None, side_by_side.samples, nothing)
    return _compute_aligned(session, asked, side_by_side)


def _compute_aligned(
    session: Session, asked: ComparisonRequest, side_by_side: Aligned | None
) -> Compared:
    runs = asked.runs
    samples = None if side_by_side is None else side_by_side.samples
    if side_by_side is not None and runs[0].is_weighted:
        pair = _weighted(session, side_by_side, *asked.runs)
        if isinstance(pair, Refusal):
            return Compared(None, side_by_side.samples, pair)
        result = compare_weighted(pair, confidence=asked.confidence)
        return Compared(result, side_by_side.samples)
    if len(runs) == 2:
        by_slice = None
        predicting = [run for run in runs if run.has_predictions]
        if asked.by is not None and side_by_side is not None and len(predicting) == 2:
            ids = (runs[0].id, runs[1].id)
            by_slice = compare_by_slice(
                asked.by, side_by_side, ids, runs[0].labels.names, confidence=asked.confidence
            )
        return Compared(_pair(session, asked, side_by_side), samples, by_slice=by_slice)
    return Compared(_many(asked, side_by_side), samples)


def _compute_counted(asked: ComparisonRequest, found: CountedTogether) -> Compared:
    """Compare runs without predictions, some of which were counted together."""
    runs, labels = asked.runs, asked.runs[0].labels
    if asked.part is not None:
        if len(found.run_ids) < len(runs):
            return Compared(None, None, NO_SAMPLES_TO_CHOOSE_FROM)
        found = found.among(asked.part)
        if not found.n_samples:
            return Compared(None, found.shared(), NOTHING_IN_SLICE)
    if len(runs) > 2:
        among = [runs[at] for at in asked.on_the_same_labels]
        many = compare_together(
            found.together(labels) if any(run.id in found.run_ids for run in among) else None,
            {
                at: _matrix(run, None)
                for at, run in enumerate(among)
                if run.id not in found.run_ids
            },
            confidence=asked.confidence,
        )
        return Compared(_with_left_out(asked, many, None), found.shared())
    ids = (runs[0].id, runs[1].id)
    by_slice = None
    if asked.by is not None:
        by_slice = compare_by_slice(
            asked.by, found.by_kind(), ids, labels.names, confidence=asked.confidence
        )
    pair = compare_paired(found.joint(*ids, labels), confidence=asked.confidence)
    return Compared(pair, found.shared(), by_slice=by_slice)


def _pair(session: Session, asked: ComparisonRequest, found: Aligned | None) -> PairComparison:
    first, second = asked.runs
    if found is not None and are_sets(found.actual):
        return compare_paired_sets(_sets(asked, found), confidence=asked.confidence)
    if found is None or not (first.has_predictions and second.has_predictions):
        return compare_unpaired(
            _matrix(first, found),
            _matrix(second, found),
            confidence=asked.confidence,
        )
    joint = joint_counts(
        actual=found.actual,
        first=found.predicted[first.id],
        second=found.predicted[second.id],
        labels=first.labels,
    )
    return compare_paired(
        joint,
        scores=_score_differences(session, asked, found),
        confidence=asked.confidence,
    )


_SAME_WEIGHT = 1e-6
"""Relative difference of weights that is rounding, as of weights in single precision."""


def _weighted(
    session: Session, found: Aligned, first: ComparedRun, second: ComparedRun
) -> WeightedPair | Refusal:
    """The runs with their weights; refused if the weights differ or are all 0.

    A constant factor between them, as after normalizing, changes no value that is compared. The
    larger weights are then those of both, whichever run comes first.
    """
    weights = sorted((weights_of(session, found, run) for run in (first, second)), key=np.sum)
    factor = weights[1].sum() / (weights[0].sum() or 1.0)
    if not np.allclose(weights[0] * factor, weights[1], rtol=_SAME_WEIGHT, atol=0.0):
        n_different = int(np.count_nonzero(weights[0] != weights[1]))
        return Refusal(
            f"The weights of {n_different:,} of {len(weights[0]):,} examples differ in the runs, "
            "so their values mean different things.",
            "Log both runs with the same sample_weight=.",
        )
    if not weights[1].any():
        return Refusal("All of these examples have the weight 0.", "Choose other examples.")
    predicted = found.predicted[first.id], found.predicted[second.id]
    return WeightedPair(found.actual, *predicted, weights[1], first.labels)


def _many(asked: ComparisonRequest, found: Aligned | None) -> ManyComparison:
    if found is not None and are_sets(found.actual):
        return compare_many_sets(_sets(asked, found), confidence=asked.confidence)
    labels = asked.runs[0].labels
    actual = np.empty(0, np.uint8) if found is None else found.actual
    many = compare_many(
        actual,
        [
            found.predicted[run.id] if found and run.has_predictions else _matrix(run, found)
            for run in (asked.runs[at] for at in asked.on_the_same_labels)
        ],
        labels=labels,
        confidence=asked.confidence,
    )
    return _with_left_out(asked, many, found)


def _with_left_out(
    asked: ComparisonRequest, many: ManyComparison, found: Aligned | None
) -> ManyComparison:
    """The comparison, with values added for the runs that are on other labels."""
    compared = asked.on_the_same_labels
    others = {at: _matrix(run, found) for at, run in enumerate(asked.runs) if at not in compared}
    return with_left_out(many, others, on_labels=label_versions(asked.runs)) if others else many


def _sets(asked: ComparisonRequest, found: Aligned) -> PairedSets:
    predicted = (found.predicted[run.id] for run in asked.runs)
    return paired_sets(found.actual, *predicted, labels=asked.runs[0].labels)


def _matrix(run: ComparedRun, found: Aligned | None) -> ConfusionMatrix:
    if run.uploaded is not None:
        return run.uploaded
    assert found is not None  # noqa: S101  # A run without a matrix has predictions.
    counts = count_pairs(found.actual, found.predicted[run.id], n_classes=len(run.labels))
    return ConfusionMatrix(counts, run.labels)


def _score_differences(
    session: Session, asked: ComparisonRequest, found: Aligned
) -> tuple[ScoreDifference, ...]:
    first, second = asked.runs
    n_columns = first.score_columns
    if n_columns == 0 or second.score_columns != n_columns:
        return ()
    if (first.n_predictions + second.n_predictions) * n_columns > LARGEST_SCORES:
        return ()
    scores = scores_of(session, [run.id for run in asked.runs])
    before, after = (_forecasts(run, found, scores[run.id]) for run in asked.runs)
    return score_differences(before, after, confidence=asked.confidence)


def _forecasts(run: ComparedRun, found: Aligned, scores: NDArray[np.float32]) -> Forecasts:
    positive = run.positive_label
    return Forecasts(
        found.actual,
        scores[found.rows[run.id]],
        n_classes=len(run.labels),
        positive=None if positive is None else run.labels.index[positive],
    )
