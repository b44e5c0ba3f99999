"""How often the classifier is right, and what always naming one class would score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from offdiag.domain.values import Reason
from offdiag.metrics.classes import Classified
from offdiag.metrics.quantity import (
    Quantity,
    as_float,
    cause,
    defined,
    defined_except,
    first_cause,
    quotient,
)
from offdiag.metrics.tally import CLASS_AXIS, over_classes


def n(m: Classified) -> Quantity:
    return defined(as_float(m.tally.total) / float(m.tally.unit))


def n_classes(m: Classified) -> Quantity:
    return defined(np.full(m.tally.total.shape, m.tally.n_classes))


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
    return quotient((k - 2) * total + 2 * m.tally.n_correct, k * total, Reason.NO_CASES)


def average_error_rate(m: Classified) -> Quantity:
    wrong = m.tally.total - m.tally.n_correct
    return quotient(2 * wrong, m.tally.n_classes * m.tally.total, Reason.NO_CASES)


def majority_baseline(m: Classified) -> Quantity:
    return _share_of_cases(m, _largest_class(m))


def nir_p_value(m: Classified) -> Quantity:
    """P(Bin(N, majority baseline) >= correct), from the incomplete beta function."""
    tally = m.tally
    correct, total = as_float(tally.n_correct), as_float(tally.total)
    is_certain = (tally.n_correct == 0) | (_largest_class(m) == tally.total)
    baseline = np.where(is_certain, 0.5, majority_baseline(m).value)
    tail = betainc(np.maximum(correct, 1.0), total - correct + 1.0, baseline)
    undefined = first_cause(
        cause(Reason.NO_CASES, tally.is_empty),
        cause(Reason.FRACTIONAL_WEIGHTS, np.full(total.shape, tally.weighted)),
    )
    return defined_except(np.where(is_certain, 1.0, tail), undefined)


def balanced_accuracy(m: Classified) -> Quantity:
    """Mean recall over the classes that have cases."""
    recall_sum = over_classes(m.classes["recall"].or_zero())
    return quotient(recall_sum, m.tally.n_actual_classes, Reason.NO_CASES)


def balanced_accuracy_adjusted(m: Classified) -> Quantity:
    """Balanced accuracy with chance (1/K' of the K' actual classes) at 0 and perfection at 1."""
    recall_sum = over_classes(m.classes["recall"].or_zero())
    n_actual = m.tally.n_actual_classes
    plain = quotient(recall_sum - 1.0, n_actual - 1, Reason.SINGLE_ACTUAL_CLASS)
    return plain.because(Reason.NO_CASES, m.tally.is_empty)


def gmean_multiclass(m: Classified) -> Quantity:
    """Geometric mean of the recalls of the classes that have cases."""
    recall = m.classes["recall"]
    # A class without cases takes no part; log 1 = 0 leaves the sum as it is. The sum of
    # logarithms stays in range where a product of a thousand recalls would underflow.
    values = np.where(recall.is_defined, recall.value, 1.0)
    is_missed = (values == 0).any(axis=CLASS_AXIS)
    log_sum = over_classes(np.log(np.where(values == 0, 1.0, values)))
    mean_log = quotient(log_sum, m.tally.n_actual_classes, Reason.NO_CASES)
    return mean_log.map(lambda mean: np.exp(np.where(is_missed, -np.inf, mean)))


def _share_of_cases(m: Classified, cases: NDArray[Any]) -> Quantity:
    return quotient(cases, m.tally.total, Reason.NO_CASES)


def _largest_class(m: Classified) -> NDArray[Any]:
    largest: NDArray[Any] = m.tally.actual.max(axis=CLASS_AXIS)
    return largest
