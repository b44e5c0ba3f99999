"""Differences of proportions that both runs take of the same cases, by the score interval.

Recall, specificity and accuracy divide by counts of the ground truth, which the runs share;
precision does not, because each run predicts its own number of cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offdiag.metrics.intervals.bounds import Bounds, Intervals
from offdiag.metrics.paired.joint import JointCounts, PairedRates
from offdiag.metrics.paired.score_interval import METHOD, paired_score_interval


@dataclass(frozen=True)
class SharedProportion:
    """A fact of each case whose share, times a number of classes K, is the metric."""

    rates: Callable[[JointCounts], PairedRates]
    scale: Callable[[int], float] = lambda _: 1.0


def _opposite(rates: PairedRates) -> PairedRates:
    return PairedRates(rates.only_second, rates.only_first, rates.cases)


def _predicted(joint: JointCounts) -> PairedRates:
    """Cases predicted as each class, rightly or not."""
    hits, alarms = joint.hits, joint.false_alarms
    return PairedRates(
        hits.only_first + alarms.only_first,
        hits.only_second + alarms.only_second,
        np.full(joint.n_classes, joint.total),
    )


def _rightly_sorted(joint: JointCounts) -> PairedRates:
    """Cases of each class found, and cases of other classes not taken for it."""
    hits, alarms = joint.hits, joint.false_alarms
    return PairedRates(
        hits.only_first + alarms.only_second,
        hits.only_second + alarms.only_first,
        np.full(joint.n_classes, joint.total),
    )


PER_CLASS: Mapping[str, SharedProportion] = MappingProxyType(
    {
        "recall": SharedProportion(lambda joint: joint.hits),
        "fnr": SharedProportion(lambda joint: _opposite(joint.hits)),
        "fpr": SharedProportion(lambda joint: joint.false_alarms),
        "specificity": SharedProportion(lambda joint: _opposite(joint.false_alarms)),
        "predicted_rate": SharedProportion(_predicted),
        "accuracy_ovr": SharedProportion(_rightly_sorted),
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
        bounds = Bounds(bounds.low * scale, bounds.high * scale)
        found[key] = Intervals(bounds, METHOD, np.zeros(bounds.low.shape), {})
    return found
