"""Calibration: whether a score of 0.8 means that the event happens 8 times in 10.

Scores are put into bins, and in each bin the mean score is compared with the share of samples
where the event happened. Results depend on the details, so the key states them: which score
(the positive class, or the top label of each sample), which bins and how many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.scores.ranked_cells import Ranking
from offdiag.metrics.spec import NOT_PROBABILITIES, OF_SCORES, Direction, MetricSpec

DEFAULT_BINS = 15
BIN_AXIS = -1
"""Axis of events (r, B) along which the bin changes."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Counts of samples by score, B bins in ascending order.

    `count` and `happened` are int64 (B,): samples, and those where the event happened.
    `score_sum` is float64 (B,). `edges` is float64 (B + 1,); bin b holds the scores from
    edges[b] up to but not including edges[b + 1]; the last bin includes its upper edge.
    """

    edges: NDArray[np.float64]
    count: NDArray[np.int64]
    happened: NDArray[np.int64]
    score_sum: NDArray[np.float64]


def equal_width_bins(ranked: Ranking, *, n_bins: int = DEFAULT_BINS) -> CalibrationBins:
    """Bins [b / n_bins, (b + 1) / n_bins) of probabilities in [0, 1].

    Edges are compared in the type of the scores, so that a score stored as b / n_bins belongs
    to bin b, whichever way it was rounded.
    """
    edges = np.arange(n_bins + 1) / n_bins
    return _binned(ranked, edges, ranked.samples_below_each(edges[1:-1]))


def equal_mass_bins(ranked: Ranking, *, n_bins: int = DEFAULT_BINS) -> CalibrationBins:
    """Bins of about n / n_bins samples; equal scores always share one, so some may be empty.

    A score with c smaller ones among n samples belongs to bin floor(c * n_bins / n).
    """
    n_samples = ranked.n_samples
    wanted = equal_mass_places(n_samples, n_bins=n_bins)
    places = np.array([ranked.end_of_ties(place) for place in wanted], dtype=np.intp)
    # A bin begins at its smallest score; an empty one at the end of the bins before it.
    begins = np.concatenate([[0], np.minimum(places, n_samples - 1), [n_samples - 1]])
    edges = ranked.at(begins).astype(np.float64)
    return _binned(ranked, edges, places)


def equal_mass_places(n_samples: int, *, n_bins: int = DEFAULT_BINS) -> list[int]:
    """Where bins of n samples would begin, except for the first, if no two scores were equal."""
    return [-(-number * n_samples // n_bins) for number in range(1, n_bins)]


def expected_calibration_error(bins: CalibrationBins) -> float:
    """Mean gap between score and share over bins, weighted by samples; 0 to 1 (Naeini 2015)."""
    return float(expected_calibration_errors(bins, bins.happened[np.newaxis])[0])


def expected_calibration_errors(bins: CalibrationBins, happened: Counts) -> NDArray[np.float64]:
    """The mean gaps if the event had happened as often as `happened` (r, B) says, shape (r,)."""
    gaps = np.abs(bins.score_sum - happened)
    return np.asarray(gaps.sum(axis=BIN_AXIS) / int(bins.count.sum()))


def maximum_calibration_error(bins: CalibrationBins) -> float:
    """Largest gap between mean score and share over the non-empty bins; 0 to 1."""
    return float(maximum_calibration_errors(bins, bins.happened[np.newaxis])[0])


def maximum_calibration_errors(bins: CalibrationBins, happened: Counts) -> NDArray[np.float64]:
    """The largest gaps if the event had happened as often as `happened` (r, B) says, (r,)."""
    used = bins.count > 0
    gaps = np.abs(bins.score_sum[used] - happened[:, used]) / bins.count[used]
    return np.asarray(gaps.max(axis=BIN_AXIS))


def calibrated_shares(
    bins: CalibrationBins,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The range of shares in which a calibrated model stays for 9 of 10 samples, each (B,).

    The 5 % and 95 % quantiles of what each bin would show if the event happened as often as
    its mean score says (Bröcker and Smith 2007, Weather and Forecasting 22, 651); NaN for an
    empty bin. Scores within a bin count as equal, which widens the band, by less than 2 %
    with 15 bins of equal width.
    """
    used = np.where(bins.count == 0, np.nan, bins.count)
    mean = np.clip(np.nan_to_num(bins.score_sum / used), 0.0, 1.0)
    low, high = (_binomial_quantile(level, bins.count, mean) / used for level in (0.05, 0.95))
    return low, high


def _binomial_quantile(level: float, n_samples: Counts, p: NDArray[np.float64]) -> Counts:
    """The smallest k with P(X <= k) >= level, by halving the range of k."""
    with optional:
        from scipy.special import betainc

    below, found = np.full(n_samples.shape, -1), n_samples.astype(np.int64)
    while (found - below > 1).any():
        middle = (below + found) // 2
        k = np.maximum(middle, 0)
        reaches = (betainc(np.maximum(n_samples - k, 1), k + 1, 1 - p) >= level) & (middle >= 0)
        found, below = np.where(reaches, middle, found), np.where(reaches, below, middle)
    return found


def _binned(
    ranked: Ranking, edges: NDArray[np.float64], places: NDArray[np.intp]
) -> CalibrationBins:
    """Add up samples between consecutive places, which are ascending."""
    borders = np.concatenate([[0], places, [ranked.n_samples]])
    return CalibrationBins(
        edges,
        np.diff(borders).astype(np.int64),
        ranked.positives_between(borders),
        ranked.score_sums(borders),
    )


_REFERENCE = (
    "None, because none has correct coverage. Instead you get the mean and the 95 % quantile of "
    "the errors that a perfectly calibrated model with the same scores would show (999 draws of "
    "consistency resampling), p, and the excess over the mean."
)
_NAEINI = (
    "Naeini, Cooper and Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian "
    "binning"
)

_NGUYEN = "Nguyen and O'Connor 2015, Posterior calibration and exploratory analysis for NLP models"

_GUO = "Guo, Pleiss, Sun and Weinberger 2017, On calibration of modern neural networks"


def _calibration(key: str, title: str, score: str, binning: str, source: str) -> MetricSpec:
    return OF_SCORES(
        key=key,
        interval=_REFERENCE,
        title=title,
        formula=f"sum over bins of (examples in the bin / n) |mean {score} - share of examples "
        "where it is the actual class|",
        direction=Direction.LOWER,
        source=source,
        undefined_when=NOT_PROBABILITIES,
        ignores=("how well the scores separate the classes",),
        other_names={"torchmetrics": "calibration_error(norm='l1') with other bins"},
        notes=f"{binning} The value depends on the bins and is biased upwards if they contain few "
        "examples.",
    )


SPECS: tuple[MetricSpec, ...] = (
    _calibration(
        f"ece_positive_{DEFAULT_BINS}",
        f"ECE (positive class, {DEFAULT_BINS} bins, equal width)",
        "probability of the positive class",
        "Bins have equal width and include their lower edge.",
        _NAEINI,
    ),
    OF_SCORES(
        key=f"mce_positive_{DEFAULT_BINS}",
        interval=_REFERENCE,
        title=f"MCE (positive class, {DEFAULT_BINS} bins, equal width)",
        formula="max over non-empty bins of |mean probability of the positive class - share of "
        "positive examples|",
        direction=Direction.LOWER,
        source=_NAEINI,
        undefined_when=NOT_PROBABILITIES,
        ignores=("how many examples a bin contains",),
        other_names={"torchmetrics": "calibration_error(norm='max') with other bins"},
        notes="A single example in a bin can determine it.",
    ),
    _calibration(
        f"ece_positive_equal_mass_{DEFAULT_BINS}",
        f"ECE (positive class, {DEFAULT_BINS} bins, equal mass)",
        "probability of the positive class",
        "Bins contain about equally many examples; equal scores share a bin.",
        _NGUYEN,
    ),
    _calibration(
        f"ece_top_label_{DEFAULT_BINS}",
        f"ECE (top label, {DEFAULT_BINS} bins, equal width)",
        "largest probability of an example",
        "Bins have equal width and include their lower edge.",
        _GUO,
    ),
    _calibration(
        f"ece_top_label_equal_mass_{DEFAULT_BINS}",
        f"ECE (top label, {DEFAULT_BINS} bins, equal mass)",
        "largest probability of an example",
        "Bins contain about equally many examples; equal scores share a bin.",
        _NGUYEN,
    ),
)
