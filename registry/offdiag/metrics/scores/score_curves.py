"""Data for all plots of scores, small enough to be stored with the results.

For one class against the rest: its operating points, how often the event happened in each bin
of its score, and the distribution of scores of both kinds of samples. For all classes together:
whether the largest probability of a sample shows how often the prediction is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.orientation import predicted_totals
from offdiag.metrics.scores.calibration import DEFAULT_BINS, CalibrationBins, equal_width_bins
from offdiag.metrics.scores.forecasts import CLASS_AXIS, Forecasts
from offdiag.metrics.scores.operating_points import OperatingPoints, drawn_points, no_points
from offdiag.metrics.scores.operating_points import of_other_class as points_of_other_class
from offdiag.metrics.scores.ranked_cells import Ranking
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.scores.score_cells import ClassCells, ScoreCells

TOP_LABEL = -1
"""Stands for the class with the largest probability of each sample."""

HISTOGRAM_BINS = 20
CELLS_OF_ONE = 256
"""Pixels per side for which the curves of a single class are kept."""
CELLS_OF_EACH = 96
"""Pixels per side where every class has curves."""
TIDY_THRESHOLDS = tuple(step / 20 for step in range(1, 20))
"""Probabilities at which the counts are kept exactly: 0.05, 0.1, … 0.95."""


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """The distribution of scores of positive and negative samples, in B bins of equal width.

    `edges` is float64 (B + 1,), bins as in `CalibrationBins`; `positive` and `negative` are
    int64 (B,).
    """

    edges: NDArray[np.float64]
    positive: NDArray[np.int64]
    negative: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """The data kept for the class with code `code`, or for the top label.

    The event is that a sample is of the class, or that the top label is right. `bins` is None
    for scores that are not probabilities. The top label has no operating points.
    """

    code: int
    points: OperatingPoints
    bins: CalibrationBins | None
    histogram: ScoreHistogram


def score_curves(forecasts: Forecasts, counts: NDArray[np.int64]) -> tuple[ScoreCurve, ...]:
    """Curves of the positive class alone, or of each class and the top label.

    `counts` is the confusion matrix (K, K) of the predictions that were made: a threshold that
    leads to exactly these is kept. The same forecasts give the same bits.
    """
    if forecasts.positive is not None:
        return (_class_curve(forecasts, forecasts.positive, counts, cells=CELLS_OF_ONE),)
    found = [
        _class_curve(forecasts, code, counts, cells=CELLS_OF_EACH)
        for code in range(forecasts.n_classes)
    ]
    if forecasts.are_probabilities:
        found.insert(0, _top_curve(forecasts.ranked_top_label()))
    return tuple(found)


def cell_curves(
    cells: ScoreCells, counts: NDArray[np.int64], *, positive: int
) -> tuple[ScoreCurve, ...]:
    """The curve of the positive class of two, from scores counted in cells.

    Its operating points are a subset of those of the scores, at the lowest score of cells.
    """
    in_use = int(counts[positive, positive]), int(predicted_totals(counts)[positive])
    return (
        _curve(positive, cells.event, in_use=in_use, are_probabilities=True, cells=CELLS_OF_ONE),
    )


def class_cell_curves(cells: ClassCells, counts: NDArray[np.int64]) -> tuple[ScoreCurve, ...]:
    """The curves of each class and the top label, from scores counted in cells."""
    found = tuple(
        _curve(
            code,
            event,
            in_use=(int(counts[code, code]), int(predicted_totals(counts)[code])),
            are_probabilities=True,
            cells=CELLS_OF_EACH,
        )
        for code, event in enumerate(cells.events)
    )
    return (_top_curve(cells.top.event), *found)


def label_curves(
    actual: NDArray[np.bool_],
    scores: NDArray[Any],
    *,
    hits: NDArray[np.int64],
    predicted: NDArray[np.int64],
) -> tuple[ScoreCurve, ...]:
    """Curves of each label of label sets against the rest.

    `actual` and `scores` are (n, q); `hits` and `predicted` (q,) count the sets predicted with
    the label correctly, and in all. Scores are probabilities if all lie between 0 and 1; those
    of one sample need not add up to 1.
    """
    are_probabilities = bool(((scores >= 0) & (scores <= 1)).all())
    return tuple(
        _curve(
            code,
            rank_scores(actual[:, code], scores[:, code]),
            in_use=(int(hits[code]), int(predicted[code])),
            are_probabilities=are_probabilities,
            cells=CELLS_OF_EACH,
        )
        for code in range(scores.shape[CLASS_AXIS])
    )


def of_other_class(curve: ScoreCurve) -> ScoreCurve:
    """The curve of the other of two classes, from the same scores.

    Its probability is 1 - p; scores that are not probabilities stay as they are.
    """
    histogram = curve.histogram
    other = ScoreHistogram(histogram.edges, histogram.negative, histogram.positive)
    bins = curve.bins
    if bins is not None:
        backwards = slice(None, None, -1)
        other = ScoreHistogram(
            1 - histogram.edges[backwards],
            histogram.negative[backwards],
            histogram.positive[backwards],
        )
        bins = CalibrationBins(
            1 - bins.edges[backwards],
            bins.count[backwards],
            (bins.count - bins.happened)[backwards],
            (bins.count - bins.score_sum)[backwards],
        )
    return ScoreCurve(1 - curve.code, points_of_other_class(curve.points), bins, other)


def score_histogram(ranked: Ranking, *, low: float, high: float) -> ScoreHistogram:
    """Count the scores, all of which lie from `low` to `high` > `low`."""
    edges = low + (high - low) * (np.arange(HISTOGRAM_BINS + 1) / HISTOGRAM_BINS)
    edges[-1] = high  # Rounding may have made the sum miss it.
    places = np.concatenate([[0], ranked.samples_below_each(edges[1:-1]), [ranked.n_samples]])
    positive = ranked.positives_between(places)
    return ScoreHistogram(edges, positive, np.diff(places) - positive)


def _class_curve(
    forecasts: Forecasts, code: int, counts: NDArray[np.int64], *, cells: int
) -> ScoreCurve:
    return _curve(
        code,
        forecasts.ranked(code),
        in_use=(int(counts[code, code]), int(predicted_totals(counts)[code])),
        are_probabilities=forecasts.are_probabilities,
        cells=cells,
    )


def _curve(
    code: int,
    ranked: Ranking,
    *,
    in_use: tuple[int, int],
    are_probabilities: bool,
    cells: int,
) -> ScoreCurve:
    """The curve of one event; `in_use` counts correct predictions of it, and all."""
    edges = [float(ranked.score_type(edge)) for edge in TIDY_THRESHOLDS]
    points = drawn_points(
        ranked, cells=cells, in_use=in_use, thresholds=edges if are_probabilities else ()
    )
    low, high = (0.0, 1.0) if are_probabilities else _range(ranked)
    return ScoreCurve(
        code,
        points,
        equal_width_bins(ranked) if are_probabilities else None,
        score_histogram(ranked, low=low, high=high),
    )


def _top_curve(ranked: Ranking) -> ScoreCurve:
    return ScoreCurve(
        TOP_LABEL,
        no_points(ranked.n_positive, ranked.n_negative),
        equal_width_bins(ranked, n_bins=DEFAULT_BINS),
        score_histogram(ranked, low=0.0, high=1.0),
    )


def _range(ranked: Ranking) -> tuple[float, float]:
    """Smallest and largest score, moved apart if all scores are equal."""
    if not ranked.n_samples:
        return 0.0, 1.0
    low, high = ranked.at(np.array([0, ranked.n_samples - 1])).astype(np.float64).tolist()
    return (low, high) if low < high else (low, low + 1.0)
