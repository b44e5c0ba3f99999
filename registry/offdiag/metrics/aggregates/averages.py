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

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.aggregates.accuracy import overall_accuracy
from offdiag.metrics.classes import Classified
from offdiag.metrics.quantity import Quantity, as_float, cause, fraction, quotient
from offdiag.metrics.tally import CLASS_AXIS, over_classes

Aggregate = Callable[[Classified], Quantity]

AVERAGED = ("precision", "recall", "f1", "jaccard")


def macro(key: str) -> Aggregate:
    def over_occurring_classes(m: Classified) -> Quantity:
        n_occurring = np.count_nonzero(m.tally.actual + m.tally.predicted, axis=CLASS_AXIS)
        return quotient(_sum(m, key), np.asarray(n_occurring), Reason.NO_CASES)

    return over_occurring_classes


def macro_all_labels(key: str) -> Aggregate:
    def over_declared_classes(m: Classified) -> Quantity:
        n_classes = np.where(m.tally.is_empty, 0, m.tally.n_classes)
        return quotient(_sum(m, key), n_classes, Reason.NO_CASES)

    return over_declared_classes


def macro_defined(key: str) -> Aggregate:
    def over_defined_classes(m: Classified) -> Quantity:
        n_defined = np.count_nonzero(m.classes[key].is_defined, axis=CLASS_AXIS)
        return quotient(_sum(m, key), np.asarray(n_defined), Reason.NO_CASES)

    return over_defined_classes


def macro_strict(key: str) -> Aggregate:
    def over_all_or_nothing(m: Classified) -> Quantity:
        is_broken = ~m.classes[key].is_defined.all(axis=CLASS_AXIS)
        mean = macro_all_labels(key)(m)
        return mean.because(Reason.CLASS_VALUE_UNDEFINED, is_broken & ~m.tally.is_empty)

    return over_all_or_nothing


def weighted(key: str) -> Aggregate:
    """Support-weighted mean; an undefined class value counts as 0."""

    def by_support(m: Classified) -> Quantity:
        return quotient(_support_sum(m, key), m.tally.total, Reason.NO_CASES)

    return by_support


def weighted_recall(m: Classified) -> Quantity:
    """Support cancels, so this is the overall accuracy, to the last digit."""
    return overall_accuracy(m)


def weighted_precision_defined(m: Classified) -> Quantity:
    """Support-weighted mean over the classes that were predicted at least once."""
    support = np.where(m.classes["precision"].is_defined, m.tally.actual, 0)
    covered = over_classes(support)
    plain = quotient(_support_sum(m, "precision"), covered, Reason.CLASS_VALUE_UNDEFINED)
    return plain.because(Reason.NO_CASES, m.tally.is_empty)


def micro_jaccard(m: Classified) -> Quantity:
    """Every error is one false negative and one false positive: S / (2 N - S)."""
    union = 2 * m.tally.total - m.tally.n_correct
    return quotient(m.tally.n_correct, union, Reason.NO_CASES)


def macro_f1_harmonic(m: Classified) -> Quantity:
    return _harmonic_mean(macro("precision")(m), macro("recall")(m), m)


def weighted_f1_harmonic(m: Classified) -> Quantity:
    return _harmonic_mean(weighted("precision")(m), weighted_recall(m), m)


def informedness_multiclass(m: Classified) -> Quantity:
    """Class informedness averaged by predicted share (Powers 2011)."""
    return _strict_mean(m, "informedness", m.tally.predicted)


def markedness_multiclass(m: Classified) -> Quantity:
    """Class markedness averaged by actual share (Powers 2011)."""
    return _strict_mean(m, "markedness", m.tally.actual)


def _sum(m: Classified, key: str) -> NDArray[np.float64]:
    return over_classes(m.classes[key].or_zero())


def _support_sum(m: Classified, key: str) -> NDArray[np.float64]:
    return over_classes(as_float(m.tally.actual) * m.classes[key].or_zero())


def _strict_mean(m: Classified, key: str, weights: NDArray[np.int64]) -> Quantity:
    values = m.classes[key]
    weighted_sum = over_classes(as_float(weights) * values.or_zero())
    mean = quotient(weighted_sum, m.tally.total, Reason.NO_CASES)
    is_broken = ~values.is_defined.all(axis=CLASS_AXIS)
    return mean.because(Reason.CLASS_VALUE_UNDEFINED, is_broken & ~m.tally.is_empty)


def _harmonic_mean(first: Quantity, second: Quantity, m: Classified) -> Quantity:
    """2 a b / (a + b), and 0 for a = b = 0: the mean lies between its terms, so it tends to 0."""
    a, b = first.or_zero(), second.or_zero()
    both = a + b
    undefined = cause(Reason.NO_CASES, m.tally.is_empty)
    return fraction(2.0 * a * b, np.where(both == 0, 1.0, both), undefined)
