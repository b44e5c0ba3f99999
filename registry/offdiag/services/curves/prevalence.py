"""A class against the rest where it is as common as somebody says."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.what_if import at_prevalence
from offdiag.metrics.counted import Counted
from offdiag.metrics.suite import evaluate_stack

PREVALENCE_KEYS = (
    *("recall", "specificity", "precision", "npv", "f1", "mcc_ovr", "accuracy_ovr"),
    *("balanced_accuracy_ovr", "lift"),
)
"""What is worked out again; recall and specificity stay, which shows what a prevalence is."""
_REST, _CLASS = 0, 1


def measured_values(counted: Counted, code: int) -> Mapping[str, MetricValue]:
    """The values of a class against the rest as they were measured, by key."""
    suite = evaluate_stack(one_against_rest(counted, code).counts, ordinal=False)
    return {key: suite.per_class[key].at(_CLASS) for key in PREVALENCE_KEYS}


def values_at_prevalence(
    counted: Counted, code: int, prevalence: float
) -> Mapping[str, MetricValue]:
    """The same where the class makes up a share in (0, 1) of the cases.

    Raises `InvalidInput` for another share, and where the class or the rest has no cases.
    """
    weighted = at_prevalence(one_against_rest(counted, code), [1 - prevalence, prevalence])
    suite = evaluate_stack(weighted.weights, ordinal=False)
    return {key: suite.per_class[key].at(_CLASS) for key in PREVALENCE_KEYS}


def one_against_rest(counted: Counted, code: int) -> ConfusionMatrix:
    """The matrix of two classes, the rest and then the class or label."""
    hits = int(counted.correct[code])
    missed = int(counted.actual[code]) - hits
    false_alarms = int(counted.predicted[code]) - hits
    rest = counted.total - hits - missed - false_alarms
    counts = np.array([[rest, false_alarms], [missed, hits]], dtype=np.int64)
    return ConfusionMatrix(counts, LabelSet(("rest", "class")))
