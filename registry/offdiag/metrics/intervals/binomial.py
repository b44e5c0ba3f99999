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


@dataclass(frozen=True)
class _Proportion:
    """Hits and cases of a metric, and the increasing function that leads from the share to it."""

    hits: Callable[[ConfusionMatrix], Counts]
    cases: Callable[[ConfusionMatrix], Counts]
    transform: Callable[[Floats, int], Floats] | None = None


def _correct(m: ConfusionMatrix) -> Counts:
    return np.diagonal(m.counts)


def _missed(m: ConfusionMatrix) -> Counts:
    return m.actual - _correct(m)


def _false_alarms(m: ConfusionMatrix) -> Counts:
    return m.predicted - _correct(m)


def _rightly_rejected(m: ConfusionMatrix) -> Counts:
    return m.total - m.actual - _false_alarms(m)


def _of_other_classes(m: ConfusionMatrix) -> Counts:
    return m.total - m.actual


def _not_predicted(m: ConfusionMatrix) -> Counts:
    return m.total - m.predicted


def _in_either_margin(m: ConfusionMatrix) -> Counts:
    return m.actual + _false_alarms(m)


def _all_for_each_class(m: ConfusionMatrix) -> Counts:
    return np.full(m.n_classes, m.total)


def _all(m: ConfusionMatrix) -> Counts:
    return np.asarray(m.total)


def _all_correct(m: ConfusionMatrix) -> Counts:
    return np.asarray(_correct(m).sum())


def _all_wrong(m: ConfusionMatrix) -> Counts:
    return np.asarray(m.total - _correct(m).sum())


PER_CLASS: Mapping[str, _Proportion] = MappingProxyType(
    {
        "prevalence": _Proportion(lambda m: m.actual, _all_for_each_class),
        "predicted_rate": _Proportion(lambda m: m.predicted, _all_for_each_class),
        "recall": _Proportion(_correct, lambda m: m.actual),
        "fnr": _Proportion(_missed, lambda m: m.actual),
        "specificity": _Proportion(_rightly_rejected, _of_other_classes),
        "fpr": _Proportion(_false_alarms, _of_other_classes),
        "precision": _Proportion(_correct, lambda m: m.predicted),
        "fdr": _Proportion(_false_alarms, lambda m: m.predicted),
        "npv": _Proportion(_rightly_rejected, _not_predicted),
        "for": _Proportion(_missed, _not_predicted),
        "accuracy_ovr": _Proportion(
            lambda m: _correct(m) + _rightly_rejected(m), _all_for_each_class
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
    matrix: ConfusionMatrix, proportions: Mapping[str, _Proportion], *, confidence: float
) -> dict[str, Intervals]:
    """Wilson intervals of the given metrics, `PER_CLASS` or `AGGREGATE` of this module."""
    found = {}
    for key, proportion in proportions.items():
        bounds = wilson(proportion.hits(matrix), proportion.cases(matrix), confidence=confidence)
        method = WILSON
        if proportion.transform is not None:
            method = WILSON_TRANSFORMED
            low, high = (
                proportion.transform(end, matrix.n_classes) for end in (bounds.low, bounds.high)
            )
            bounds = Bounds(low, high)
        found[key] = Intervals(bounds, method, np.zeros(bounds.low.shape), {})
    return found
