"""From predictions in one order to everything that can be said of the runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.many import ManyComparison, compare_many
from offdiag.comparison.pair import PairComparison, compare_paired, compare_unpaired
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counting import count_pairs
from offdiag.metrics.paired.joint import joint_counts
from offdiag.metrics.paired.scores import ScoreDifference, score_differences
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.services.comparison.alignment import Aligned, SharedSamples
from offdiag.services.comparison.reading import Asked, read_aligned
from offdiag.services.comparison.refusals import (
    NO_CASES_TO_CHOOSE_FROM,
    NOTHING_IN_SLICE,
    NOTHING_LABELLED,
    Refusal,
)
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.store import compared_runs as queries
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.session import Session

LARGEST_SCORES = 20_000_000
"""Scores of both runs together up to which they are compared: what fits beside a web request."""

Result = PairComparison | ManyComparison


@dataclass(frozen=True)
class Compared:
    """What a comparison found, or why there is none; `samples` None without predictions."""

    result: Result | None
    samples: SharedSamples | None
    refusal: Refusal | None = None


def compute(session: Session, asked: Asked) -> Compared:
    """Compare runs that nothing but their samples may keep from it."""
    runs = asked.runs
    predicting = [run for run in runs if run.has_predictions]
    if asked.part is not None and len(predicting) < len(runs):
        return Compared(None, None, NO_CASES_TO_CHOOSE_FROM)
    side_by_side = read_aligned(session, asked, predicting) if predicting else None
    if isinstance(side_by_side, Refusal):
        return Compared(None, None, side_by_side)
    if side_by_side is not None and side_by_side.samples.n_compared == 0:
        nothing = NOTHING_LABELLED if asked.part is None else NOTHING_IN_SLICE
        return Compared(None, side_by_side.samples, nothing)
    samples = None if side_by_side is None else side_by_side.samples
    if len(runs) == 2:
        return Compared(_pair(session, asked, side_by_side), samples)
    return Compared(_many(asked, side_by_side), samples)


def _pair(session: Session, asked: Asked, found: Aligned | None) -> PairComparison:
    first, second = asked.runs
    if found is None or not (first.has_predictions and second.has_predictions):
        return compare_unpaired(
            _matrix(first, found),
            _matrix(second, found),
            seed=INTERVAL_SEED,
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
        seed=INTERVAL_SEED,
        confidence=asked.confidence,
    )


def _many(asked: Asked, found: Aligned | None) -> ManyComparison:
    labels = asked.runs[0].labels
    actual = np.empty(0, np.uint8) if found is None else found.actual
    return compare_many(
        actual,
        [
            found.predicted[run.id] if found and run.has_predictions else _matrix(run, found)
            for run in asked.runs
        ],
        labels=labels,
        seed=INTERVAL_SEED,
        confidence=asked.confidence,
    )


def _matrix(run: ComparedRun, found: Aligned | None) -> ConfusionMatrix:
    if run.uploaded is not None:
        return run.uploaded
    assert found is not None  # noqa: S101  # A run without a matrix has predictions.
    counts = count_pairs(found.actual, found.predicted[run.id], n_classes=len(run.labels))
    return ConfusionMatrix(counts, run.labels)


def _score_differences(
    session: Session, asked: Asked, found: Aligned
) -> tuple[ScoreDifference, ...]:
    first, second = asked.runs
    n_columns = first.score_columns
    if n_columns == 0 or second.score_columns != n_columns:
        return ()
    if (first.n_predictions + second.n_predictions) * n_columns > LARGEST_SCORES:
        return ()
    scores = queries.scores_of(session, [run.id for run in asked.runs])
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
