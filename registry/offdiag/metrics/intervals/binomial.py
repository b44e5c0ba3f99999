"""Metrics that are a binomial proportion once their denominator is given.

Under multinomial sampling a cell, given the sum of some cells that contain it, is binomial.
That makes recall binomial given the support, precision given the predictions, and Jaccard
given the union. Their intervals need no resampling and keep their coverage for classes of
five cases. A metric that is an increasing function of such a proportion takes over its
interval: F1 = 2 J / (1 + J), the average accuracy 1 - 2/K + (2/K) OA, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.bounds import Bounds, Intervals
from offdiag.metrics.intervals.proportions import wilson

WILSON = "wilson"
WILSON_TRANSFORMED = "wilson, transformed"

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Correct, actual and predicted cases of K classes, or of K labels that sets may hold.

    Whole numbers of shape (K,), out of `total` cases.
    """

    correct: Counts
    actual: Counts
    predicted: Counts
    total: int

    @classmethod
    def of_matrix(cls, matrix: ConfusionMatrix) -> Outcomes:
        return cls(np.diagonal(matrix.counts), matrix.actual, matrix.predicted, matrix.total)

    @property
    def n_classes(self) -> int:
        return len(self.actual)


@dataclass(frozen=True)
class _Proportion:
    """Hits and cases of a metric, and the increasing function that leads from the share to it."""

    hits: Callable[[Outcomes], Counts]
    cases: Callable[[Outcomes], Counts]
    transform: Callable[[Floats, int], Floats] | None = None


def _correct(o: Outcomes) -> Counts:
    return o.correct


def _missed(o: Outcomes) -> Counts:
    return o.actual - o.correct


def _false_alarms(o: Outcomes) -> Counts:
    return o.predicted - o.correct


def _rightly_rejected(o: Outcomes) -> Counts:
    return o.total - o.actual - _false_alarms(o)


def _of_other_classes(o: Outcomes) -> Counts:
    return o.total - o.actual


def _not_predicted(o: Outcomes) -> Counts:
    return o.total - o.predicted


def _in_either_margin(o: Outcomes) -> Counts:
    return o.actual + _false_alarms(o)


def _all_for_each_class(o: Outcomes) -> Counts:
    return np.full(o.n_classes, o.total)


def _all(o: Outcomes) -> Counts:
    return np.asarray(o.total)


def _all_correct(o: Outcomes) -> Counts:
    return np.asarray(o.correct.sum())


def _all_wrong(o: Outcomes) -> Counts:
    return np.asarray(o.total - o.correct.sum())


PER_CLASS: Mapping[str, _Proportion] = MappingProxyType(
    {
        "prevalence": _Proportion(lambda o: o.actual, _all_for_each_class),
        "predicted_rate": _Proportion(lambda o: o.predicted, _all_for_each_class),
        "recall": _Proportion(_correct, lambda o: o.actual),
        "fnr": _Proportion(_missed, lambda o: o.actual),
        "specificity": _Proportion(_rightly_rejected, _of_other_classes),
        "fpr": _Proportion(_false_alarms, _of_other_classes),
        "precision": _Proportion(_correct, lambda o: o.predicted),
        "fdr": _Proportion(_false_alarms, lambda o: o.predicted),
        "npv": _Proportion(_rightly_rejected, _not_predicted),
        "for": _Proportion(_missed, _not_predicted),
        "accuracy_ovr": _Proportion(
            lambda o: _correct(o) + _rightly_rejected(o), _all_for_each_class
        ),
        "jaccard": _Proportion(_correct, _in_either_margin),
        "f1": _Proportion(_correct, _in_either_margin, lambda j, _: 2 * j / (1 + j)),
    }
)
_ACCURACY = _Proportion(_all_correct, _all)
AGGREGATE: Mapping[str, _Proportion] = MappingProxyType(
    {
        "overall_accuracy": _ACCURACY,
        "micro_precision": _ACCURACY,
        "micro_recall": _ACCURACY,
        "micro_f1": _ACCURACY,
        "weighted_recall": _ACCURACY,
        "error_rate": _Proportion(_all_wrong, _all),
        "micro_jaccard": _Proportion(_all_correct, _all, lambda share, _: share / (2 - share)),
        "average_accuracy": _Proportion(
            _all_correct, _all, lambda share, k: 1 - 2 * (1 - share) / k
        ),
        "average_error_rate": _Proportion(_all_wrong, _all, lambda share, k: 2 * share / k),
    }
)


def proportion_intervals(
    outcomes: Outcomes, proportions: Mapping[str, _Proportion], *, confidence: float
) -> dict[str, Intervals]:
    """Wilson intervals of the given metrics, `PER_CLASS` or `AGGREGATE` of this module.

    The latter hold where every case has one actual and one predicted class.
    """
    found = {}
    for key, proportion in proportions.items():
        hits, cases = proportion.hits(outcomes), proportion.cases(outcomes)
        bounds = wilson(hits, cases, confidence=confidence)
        method = WILSON
        if proportion.transform is not None:
            method = WILSON_TRANSFORMED
            low, high = (
                proportion.transform(end, outcomes.n_classes) for end in (bounds.low, bounds.high)
            )
            bounds = Bounds(low, high)
        found[key] = Intervals(bounds, method, np.zeros(bounds.low.shape), {})
    return found
