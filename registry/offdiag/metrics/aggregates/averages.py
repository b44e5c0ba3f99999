"""Averages of class values, with the treatment of undefined classes in the name.

Libraries return five different macro F1 values for one matrix because each treats a class
without cases or predictions in its own silent way. Here every way has its own key:

* `macro_x`: classes that occur in either margin, an undefined value counts as 0;
* `macro_x_all_labels`: all declared classes, an undefined value counts as 0;
* `macro_x_defined`: only classes where x is defined;
* `macro_x_strict`: undefined as soon as x is for one declared class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.classes import Classified
from offdiag.metrics.quantity import Quantity, as_float, cause, first_cause, fraction
from offdiag.metrics.tally import CLASS_AXIS, how_many, over_classes

Aggregate = Callable[[Classified], Quantity]

AVERAGED = ("precision", "recall", "f1", "jaccard")


def macro(key: str) -> Aggregate:
    def over_occurring_classes(m: Classified) -> Quantity:
        return fraction(m.class_sum(key), m.tally.n_occurring_classes, m.tally.no_cases)

    return over_occurring_classes


def macro_all_labels(key: str) -> Aggregate:
    def over_declared_classes(m: Classified) -> Quantity:
        n_classes = np.array(m.tally.n_classes, np.float64)
        return fraction(m.class_sum(key), n_classes, m.tally.no_cases)

    return over_declared_classes


def macro_defined(key: str) -> Aggregate:
    def over_defined_classes(m: Classified) -> Quantity:
        values = m.per_class[key]
        if values.causes is None:  # It is in all classes.
            return m.aggregate[f"macro_{key}_all_labels"]
        return fraction(m.class_sum(key), how_many(values.is_defined), m.tally.no_cases)

    return over_defined_classes


def macro_strict(key: str) -> Aggregate:
    def over_all_or_nothing(m: Classified) -> Quantity:
        return _strict(m, key, m.aggregate[f"macro_{key}_all_labels"])

    return over_all_or_nothing


def weighted(key: str) -> Aggregate:
    """Support-weighted mean; an undefined class value counts as 0."""

    def by_support(m: Classified) -> Quantity:
        return fraction(_support_sum(m, key), m.tally.total, m.tally.no_cases)

    return by_support


def weighted_recall(m: Classified) -> Quantity:
    """Support cancels, so this is the overall accuracy, to the last digit."""
    return m.aggregate["overall_accuracy"]


def weighted_precision_defined(m: Classified) -> Quantity:
    """Support-weighted mean over the classes that were predicted at least once."""
    if m.per_class["precision"].causes is None:
        return m.aggregate["weighted_precision"]  # All classes were.
    covered = over_classes(np.where(m.tally.predicted == 0, 0, m.tally.actual))
    undefined = first_cause(m.tally.no_cases, cause(Reason.CLASS_VALUE_UNDEFINED, covered == 0))
    return fraction(_support_sum(m, "precision"), covered, undefined)


def micro(m: Classified) -> Quantity:
    """Precision, recall and F1 from pooled counts: with one label a case, the accuracy."""
    return m.aggregate["overall_accuracy"]


def micro_jaccard(m: Classified) -> Quantity:
    """Every error is one false negative and one false positive: S / (2 N - S)."""
    union = 2 * m.tally.total - m.tally.n_correct
    return fraction(m.tally.n_correct, union, m.tally.no_cases)


def macro_f1_harmonic(m: Classified) -> Quantity:
    return _harmonic_mean(m, "macro_precision", "macro_recall")


def weighted_f1_harmonic(m: Classified) -> Quantity:
    return _harmonic_mean(m, "weighted_precision", "weighted_recall")


def informedness_multiclass(m: Classified) -> Quantity:
    """Class informedness averaged by predicted share (Powers 2011)."""
    return _strict_mean(m, "informedness", m.tally.predicted)


def markedness_multiclass(m: Classified) -> Quantity:
    """Class markedness averaged by actual share (Powers 2011)."""
    return _strict_mean(m, "markedness", m.tally.actual)


def _support_sum(m: Classified, key: str) -> NDArray[np.float64]:
    return over_classes(as_float(m.tally.actual) * m.per_class[key].or_zero())


def _strict_mean(m: Classified, key: str, weights: NDArray[Any]) -> Quantity:
    weighted_sum = over_classes(as_float(weights) * m.per_class[key].or_zero())
    mean = fraction(weighted_sum, m.tally.total, m.tally.no_cases)
    return _strict(m, key, mean)


def _strict(m: Classified, key: str, mean: Quantity) -> Quantity:
    """A mean, undefined where there are cases but some declared class has no value."""
    causes = m.per_class[key].causes
    if causes is None:
        return mean
    has_undefined = causes.any(axis=CLASS_AXIS) & ~m.tally.is_empty
    return mean.because(Reason.CLASS_VALUE_UNDEFINED, has_undefined)


def _harmonic_mean(m: Classified, first: str, second: str) -> Quantity:
    """2 a b / (a + b), and 0 for a = b = 0: the mean lies between its terms, so it tends to 0."""
    a, b = m.aggregate[first].or_zero(), m.aggregate[second].or_zero()
    both = a + b
    return fraction(2.0 * a * b, np.where(both == 0, 1.0, both), m.tally.no_cases)
