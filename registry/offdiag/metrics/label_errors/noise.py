"""What wrong labels can do to accuracy, recall and the order of two runs.

A noise matrix says how many samples there are of each given and true class, but not which samples
they are. Accuracy and recall lie between the sharp bounds for tables with fixed margins
(Fréchet): models may be right on all wrong labels, or wrong on all of them. Without a matrix, up
to a given number of arbitrary labels may be wrong, in the worst way for the leader.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.orientation import ACTUAL_AXIS, PREDICTED_AXIS
from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval

Counts = NDArray[np.int64]
Joint = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NoiseBounds:
    """Ends of accuracy, and of recalls (K,), NaN for a class without true samples."""

    low: float
    high: float
    recall_low: NDArray[np.float64]
    recall_high: NDArray[np.float64]


def bounds_under_noise(counts: Counts, noise: Joint) -> NoiseBounds:
    """Sharp bounds of accuracy and recall measured against the true labels.

    `counts` (K, K) have given labels along the actual axis, and predictions. `noise` (K, K) is
    the joint distribution of given labels along the same axis and true ones, and sums to 1; its
    rows are scaled to the counts. A given class without noise keeps its labels.
    """
    given = counts.sum(axis=PREDICTED_AXIS).astype(np.float64)
    rows = noise.sum(axis=PREDICTED_AXIS)
    shares = np.where(rows[:, np.newaxis] > 0, noise, np.eye(len(noise)))
    shares = shares / shares.sum(axis=PREDICTED_AXIS, keepdims=True)
    true = shares * given[:, np.newaxis]
    total = max(float(given.sum()), 1.0)
    least = np.maximum(true + counts - given[:, np.newaxis], 0.0)
    most = np.minimum(true, counts)
    n_true = true.sum(axis=ACTUAL_AXIS)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall_low, recall_high = (
            np.where(n_true > 0, part.sum(axis=ACTUAL_AXIS) / n_true, np.nan)
            for part in (least, most)
        )
    # With fixed margins at most one class can be forced to be right, per given class.
    low = float(least.max(axis=PREDICTED_AXIS).sum()) / total
    return NoiseBounds(low, float(most.sum()) / total, recall_low, recall_high)


def most_wrong_labels(only_first: int, only_second: int, n: int, *, confidence: float) -> int:
    """How many labels may be wrong, any of them, with the first run still leading the second.

    Of `n` samples, `only_first` are right under the first run alone. The worst wrong labels are
    among these: each moves one sample to the second run. The first leads while the lower end of
    Tango's interval of the difference is above 0; -1 if it does not lead even with right labels.
    """

    def leads(moved: int) -> bool:
        rates = PairedRates(
            *(np.array(part, np.int64) for part in (only_first - moved, only_second + moved, n))
        )
        return bool(paired_score_interval(rates, confidence=confidence).high < 0)

    # The interval moves up with each moved sample, so the last one is found by bisection.
    most, too_many = -1, only_first + 1
    while too_many - most > 1:
        middle = (most + too_many) // 2
        most, too_many = (middle, too_many) if leads(middle) else (most, middle)
    return most
