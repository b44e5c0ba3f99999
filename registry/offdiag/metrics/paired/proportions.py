"""Differences of proportions of the same samples, by Tango's score interval.

The bootstrap of such a difference shrinks to a point when no sample distinguishes the runs, and so
does the textbook interval; both then claim certainty after 21 samples as after 21 million. Tango's
interval (1998) keeps the width that n samples warrant. It is one of the methods that Fagerland,
Lydersen and Laake (2014, Stat. Med. 33, 2850) recommend.

Recall, specificity and accuracy divide by counts of the ground truth, which the runs share;
precision does not, because each run predicts its own number of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Bounds, Intervals
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired.joint_counts import JointCounts, PairedRates

METHOD = "tango score"
HALVINGS = 64
"""Steps of bisection: an interval of length 2 shrinks below the spacing of doubles."""

Floats = NDArray[np.float64]


def paired_score_interval(rates: PairedRates, *, confidence: float = 0.95) -> Bounds:
    """Interval of the share under the second run minus the share under the first.

    All differences d in [-1, 1] that the score test of b - c = n d does not reject, with the
    nuisance parameter at its maximum likelihood under d (Tango 1998, Stat. Med. 17, 891;
    b = only_second, c = only_first). The statistic falls with d, so the ends are found by
    bisection. With b = c = 0 they are -+ z^2/(n + z^2).
    There is no interval (NaN) without samples.
    """
    b, c, n = np.broadcast_arrays(
        *(part.astype(np.float64) for part in (rates.only_second, rates.only_first, rates.cases))
    )
    z = normal_quantile(confidence)
    n = np.where(n > 0, n, np.nan)
    estimate = (b - c) / n
    level = np.reshape([z, -z], (2, *np.ones(n.ndim, np.int64)))
    low, high = _crossing(
        *(b, c, n),
        level=level,
        below=np.stack([np.full_like(n, -1.0), estimate]),
        above=np.stack([estimate, np.ones_like(n)]),
    )
    return Bounds(np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan))


def _crossing(
    b: Floats, c: Floats, n: Floats, *, level: Floats, below: Floats, above: Floats
) -> Floats:
    """Where the falling score statistic crosses each `level` between two differences."""
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        is_left = _score(b, c, n, middle) > level
        below = np.where(is_left, middle, below)
        above = np.where(is_left, above, middle)
    return (below + above) / 2


def _score(b: Floats, c: Floats, n: Floats, difference: Floats) -> Floats:
    room = difference * (1 - difference)
    linear = (2 * n - b + c) * difference - b - c
    root = np.sqrt(np.maximum(linear**2 + 8 * n * c * room, 0.0))
    # Both forms of the quadratic's root are equal; each is used where it does not cancel.
    with np.errstate(divide="ignore", invalid="ignore"):
        nuisance = np.where(linear > 0, 2 * c * room / (linear + root), (root - linear) / (4 * n))
        variance = n * np.maximum(2 * nuisance + room, 0.0)
        gap = b - c - n * difference
        score: Floats = np.where(variance > 0, gap / np.sqrt(variance), np.copysign(np.inf, gap))
    return score


@dataclass(frozen=True)
class SharedProportion:
    """A fact of each sample whose share, times a number of classes K, is the metric."""

    rates: Callable[[JointCounts], PairedRates]
    scale: Callable[[int], float] = lambda _: 1.0


def _opposite(rates: PairedRates) -> PairedRates:
    return PairedRates(rates.only_second, rates.only_first, rates.cases)


def _hits_and(others: PairedRates, joint: JointCounts) -> PairedRates:
    """Hits of each class together with a fact of the samples of other classes."""
    return PairedRates(
        joint.hits.only_first + others.only_first,
        joint.hits.only_second + others.only_second,
        np.full(joint.n_classes, joint.total),
    )


PER_CLASS: Mapping[str, SharedProportion] = MappingProxyType(
    {
        "recall": SharedProportion(lambda joint: joint.hits),
        "fnr": SharedProportion(lambda joint: _opposite(joint.hits)),
        "fpr": SharedProportion(lambda joint: joint.false_alarms),
        "specificity": SharedProportion(lambda joint: _opposite(joint.false_alarms)),
        "predicted_rate": SharedProportion(lambda joint: _hits_and(joint.false_alarms, joint)),
        "accuracy_ovr": SharedProportion(
            lambda joint: _hits_and(_opposite(joint.false_alarms), joint)
        ),
    }
)
_ACCURACY = SharedProportion(lambda joint: joint.accuracy)
AGGREGATE: Mapping[str, SharedProportion] = MappingProxyType(
    {
        "overall_accuracy": _ACCURACY,
        "micro_precision": _ACCURACY,
        "micro_recall": _ACCURACY,
        "micro_f1": _ACCURACY,
        "weighted_recall": _ACCURACY,
        "error_rate": SharedProportion(lambda joint: _opposite(joint.accuracy)),
        "average_accuracy": SharedProportion(lambda joint: joint.accuracy, lambda k: 2 / k),
        "average_error_rate": SharedProportion(
            lambda joint: _opposite(joint.accuracy), lambda k: 2 / k
        ),
    }
)


def shared_proportion_intervals(
    joint: JointCounts, proportions: Mapping[str, SharedProportion], *, confidence: float
) -> dict[str, Intervals]:
    """Intervals of second minus first run for `PER_CLASS` or `AGGREGATE` of this module."""
    found = {}
    for key, proportion in proportions.items():
        bounds = paired_score_interval(proportion.rates(joint), confidence=confidence)
        scale = proportion.scale(joint.n_classes)
        found[key] = Intervals(Bounds(bounds.low * scale, bounds.high * scale), METHOD)
    return found
