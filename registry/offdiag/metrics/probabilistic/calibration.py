"""Whether a score of 0.8 means that the event happens 8 times in 10.

Scores are put into bins, in each of which the mean score is compared with the share of cases
where the event happened. Results depend on how that is done, so the key says it: which score
(the positive class, or the top label of each case), which bins and how many.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.probabilistic.ranked import RankedScores

DEFAULT_BINS = 15


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Counts of cases by score, B bins in ascending order.

    `count` and `happened` are int64 (B,): cases, and those where the event happened.
    `score_sum` is float64 (B,). `edges` is float64 (B + 1,), bin b holding the scores from
    edges[b] up to but without edges[b + 1]; the last bin holds its upper edge, too.
    """

    edges: NDArray[np.float64]
    count: NDArray[np.int64]
    happened: NDArray[np.int64]
    score_sum: NDArray[np.float64]


def equal_width_bins(ranked: RankedScores, *, n_bins: int = DEFAULT_BINS) -> CalibrationBins:
    """Bins [b / n_bins, (b + 1) / n_bins) of probabilities in [0, 1].

    Edges are compared in the type of the scores, so that a score stored as b / n_bins belongs
    to bin b whichever way it was rounded.
    """
    edges = np.arange(n_bins + 1) / n_bins
    return _binned(ranked, edges, equal_width_places(ranked.values, n_bins=n_bins))


def equal_width_places(values: NDArray[Any], *, n_bins: int) -> NDArray[np.intp]:
    """Where bins 1 .. n_bins - 1 of equal width begin among ascending scores."""
    inner_edges = np.arange(1, n_bins) / n_bins
    return np.searchsorted(values, inner_edges.astype(values.dtype), side="left")


def equal_mass_bins(ranked: RankedScores, *, n_bins: int = DEFAULT_BINS) -> CalibrationBins:
    """Bins of about n / n_bins cases; equal scores always share one, so some may be empty.

    A score with c smaller ones among n cases belongs to bin floor(c * n_bins / n).
    """
    values = ranked.values
    bin_of_value = ranked.cases_below[:-1] * n_bins // ranked.n_cases
    places = np.searchsorted(bin_of_value, np.arange(1, n_bins), side="left")
    # A bin begins at the smallest score in it; an empty one at the end of what is there.
    begins = np.append(values, values[-1]).astype(np.float64)[places]
    edges = np.concatenate([values[:1].astype(np.float64), begins, [float(values[-1])]])
    return _binned(ranked, edges, places)


def expected_calibration_error(bins: CalibrationBins) -> float:
    """Mean gap between score and share over bins, weighted by cases; 0 to 1 (Naeini 2015)."""
    gaps = np.abs(bins.score_sum - bins.happened)
    return float(gaps.sum()) / int(bins.count.sum())


def maximum_calibration_error(bins: CalibrationBins) -> float:
    """Largest gap between mean score and share over the bins that are not empty; 0 to 1."""
    used = bins.count > 0
    gaps = np.abs(bins.score_sum[used] - bins.happened[used]) / bins.count[used]
    return float(gaps.max())


def _binned(
    ranked: RankedScores, edges: NDArray[np.float64], places: NDArray[np.intp]
) -> CalibrationBins:
    """Add up distinct scores between consecutive places, which are ascending."""
    borders = np.concatenate([[0], places, [len(ranked.values)]])
    positives = ranked.positives_below[borders]
    negatives = ranked.negatives_below[borders]
    weighted = ranked.values.astype(np.float64) * np.diff(ranked.cases_below)
    score_sum = [float(weighted[low:high].sum()) for low, high in pairwise(borders.tolist())]
    happened = np.diff(positives)
    return CalibrationBins(edges, happened + np.diff(negatives), happened, np.array(score_sum))
