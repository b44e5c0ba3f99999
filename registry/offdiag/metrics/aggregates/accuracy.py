"""How often the classifier is right, and what always naming one class would score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.classes import Classified
from offdiag.metrics.quantity import (
    Quantity,
    as_float,
    cause,
    defined,
    defined_except,
    first_cause,
    fraction,
)
from offdiag.metrics.tally import over_classes


def n(m: Classified) -> Quantity:
    return defined(as_float(m.tally.total) / float(m.tally.unit))


def n_classes(m: Classified) -> Quantity:
    return defined(np.full(m.tally.total.shape, float(m.tally.n_classes)))


def n_classes_actual(m: Classified) -> Quantity:
    return defined(m.tally.n_actual_classes)


def n_classes_predicted(m: Classified) -> Quantity:
    return defined(m.tally.n_predicted_classes)


def overall_accuracy(m: Classified) -> Quantity:
    return _share_of_cases(m, m.tally.n_correct)


def error_rate(m: Classified) -> Quantity:
    return _share_of_cases(m, m.tally.total - m.tally.n_correct)


def average_accuracy(m: Classified) -> Quantity:
    """Mean of (TP + TN) / N over classes: 1 - 2/K + 2/K OA (Zeng 2025, Property 3)."""
    k, total = m.tally.n_classes, m.tally.total
    return fraction((k - 2) * total + 2 * m.tally.n_correct, k * total, m.tally.no_cases)


def average_error_rate(m: Classified) -> Quantity:
    wrong = m.tally.total - m.tally.n_correct
    return fraction(2 * wrong, m.tally.n_classes * m.tally.total, m.tally.no_cases)


def majority_baseline(m: Classified) -> Quantity:
    return _share_of_cases(m, m.tally.largest_class)


def nir_p_value(m: Classified) -> Quantity:
    """P(Bin(N, majority baseline) >= correct), from the incomplete beta function.

    Beyond about 1e16 cases that function finds no value close to its middle; there stands the
    normal approximation with a correction for continuity, which is within 1e-7 of it.
    """
    from scipy.special import betainc, ndtr

    tally = m.tally
    correct, total = as_float(tally.n_correct), as_float(tally.total)
    is_certain = (tally.n_correct == 0) | (tally.largest_class == tally.total)
    baseline = np.where(is_certain, 0.5, m.aggregate["majority_baseline"].value)
    tail = betainc(np.maximum(correct, 1.0), total - correct + 1.0, baseline)
    not_found = np.isnan(tail)
    if np.count_nonzero(not_found):
        spread = np.sqrt(np.maximum(total * baseline * (1.0 - baseline), 1.0))
        tail = np.where(not_found, ndtr((total * baseline - correct + 0.5) / spread), tail)
    undefined = tally.no_cases
    if tally.weighted:
        undefined = first_cause(undefined, tally.everywhere(Reason.FRACTIONAL_WEIGHTS))
    return defined_except(np.where(is_certain, 1.0, tail), undefined)


def balanced_accuracy(m: Classified) -> Quantity:
    """Mean recall over the classes that have cases."""
    return fraction(m.class_sum("recall"), m.tally.n_actual_classes, m.tally.no_cases)


def balanced_accuracy_adjusted(m: Classified) -> Quantity:
    """Balanced accuracy with chance (1/K' of the K' actual classes) at 0 and perfection at 1."""
    n_actual = m.tally.n_actual_classes
    undefined = first_cause(m.tally.no_cases, cause(Reason.SINGLE_ACTUAL_CLASS, n_actual == 1))
    return fraction(m.class_sum("recall") - 1.0, n_actual - 1, undefined)


def gmean_multiclass(m: Classified) -> Quantity:
    """Geometric mean of the recalls of the classes that have cases."""
    recall = m.per_class["recall"]
    # A class without cases takes no part; log 1 = 0 leaves the sum as it is. The sum of
    # logarithms stays in range where a product of a thousand recalls would underflow. That of
    # a class that is always missed is -inf, which makes the mean 0.
    values = recall.value if recall.causes is None else np.where(recall.causes, 1.0, recall.value)
    with np.errstate(divide="ignore"):
        log_sum = over_classes(np.log(values))
    return fraction(log_sum, m.tally.n_actual_classes, m.tally.no_cases).map(np.exp)


def _share_of_cases(m: Classified, cases: NDArray[Any]) -> Quantity:
    return fraction(cases, m.tally.total, m.tally.no_cases)
