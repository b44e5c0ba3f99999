"""The per-class metrics: one class against the rest, as functions of its four counts.

Each formula is brought to one fraction of whole numbers (or one root of one), so that a value
is rounded once or twice however large the counts are. The catalogue says what each metric
means and when it is undefined; the reasons are decided in `one_vs_rest`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.one_vs_rest import OneVsRest
from offdiag.metrics.quantity import (
    Quantity,
    as_float,
    defined,
    first_cause,
    fraction,
    ratio_with_limit,
    renamed,
)


def tp(c: OneVsRest) -> Quantity:
    return _cases(c, c.tp)


def fn(c: OneVsRest) -> Quantity:
    return _cases(c, c.fn)


def fp(c: OneVsRest) -> Quantity:
    return _cases(c, c.fp)


def tn(c: OneVsRest) -> Quantity:
    return _cases(c, c.tn)


def support(c: OneVsRest) -> Quantity:
    return _cases(c, c.positives)


def predicted(c: OneVsRest) -> Quantity:
    return _cases(c, c.predicted_positives)


def prevalence(c: OneVsRest) -> Quantity:
    return fraction(c.positives, c.total, c.no_cases)


def predicted_rate(c: OneVsRest) -> Quantity:
    return fraction(c.predicted_positives, c.total, c.no_cases)


def recall(c: OneVsRest) -> Quantity:
    return fraction(c.tp, c.positives, c.no_positives)


def specificity(c: OneVsRest) -> Quantity:
    return fraction(c.tn, c.negatives, c.no_negatives)


def precision(c: OneVsRest) -> Quantity:
    return fraction(c.tp, c.predicted_positives, c.no_predicted_positives)


def npv(c: OneVsRest) -> Quantity:
    return fraction(c.tn, c.predicted_negatives, c.no_predicted_negatives)


def fpr(c: OneVsRest) -> Quantity:
    return fraction(c.fp, c.negatives, c.no_negatives)


def fnr(c: OneVsRest) -> Quantity:
    return fraction(c.fn, c.positives, c.no_positives)


def fdr(c: OneVsRest) -> Quantity:
    return fraction(c.fp, c.predicted_positives, c.no_predicted_positives)


def false_omission_rate(c: OneVsRest) -> Quantity:
    return fraction(c.fn, c.predicted_negatives, c.no_predicted_negatives)


def f1(c: OneVsRest) -> Quantity:
    """2 TP / (2 TP + FN + FP): defined, and 0, where precision is 0/0 but cases exist."""
    return fraction(2 * c.tp, c.positives + c.predicted_positives, c.absent)


def f0_5(c: OneVsRest) -> Quantity:
    """(1 + 1/4) TP / ((1 + 1/4) TP + FN / 4 + FP), in whole numbers."""
    return fraction(5 * c.tp, c.positives + 4 * c.predicted_positives, c.absent)


def f2(c: OneVsRest) -> Quantity:
    """(1 + 4) TP / ((1 + 4) TP + 4 FN + FP)."""
    return fraction(5 * c.tp, 4 * c.positives + c.predicted_positives, c.absent)


def jaccard(c: OneVsRest) -> Quantity:
    return fraction(c.tp, c.positives + c.fp, c.absent)


def accuracy_ovr(c: OneVsRest) -> Quantity:
    return fraction(c.tp + c.tn, c.total, c.no_cases)


def balanced_accuracy_ovr(c: OneVsRest) -> Quantity:
    twice = c.tp * c.negatives + c.tn * c.positives
    return fraction(twice, 2 * c.positives * c.negatives, c.one_sided_actual)


def informedness(c: OneVsRest) -> Quantity:
    return fraction(c.determinant, c.positives * c.negatives, c.one_sided_actual)


def markedness(c: OneVsRest) -> Quantity:
    both = c.predicted_positives * c.predicted_negatives
    return fraction(c.determinant, both, c.one_sided_predicted)


def gmean(c: OneVsRest) -> Quantity:
    square = fraction(c.tp * c.tn, c.positives * c.negatives, c.one_sided_actual)
    return square.map(np.sqrt)


def fowlkes_mallows(c: OneVsRest) -> Quantity:
    undefined = first_cause(c.no_positives, c.no_predicted_positives)
    product = as_float(c.positives * c.predicted_positives)
    return fraction(c.tp, np.sqrt(product), undefined).map(_at_most_one)


def mcc_ovr(c: OneVsRest) -> Quantity:
    undefined = first_cause(
        c.no_cases,
        renamed(Reason.CONSTANT_ACTUAL, c.one_sided_actual),
        renamed(Reason.CONSTANT_PREDICTED, c.one_sided_predicted),
    )
    actual_spread = as_float(c.positives * c.negatives)
    predicted_spread = as_float(c.predicted_positives * c.predicted_negatives)
    return fraction(c.determinant, np.sqrt(actual_spread * predicted_spread), undefined).map(
        _within_one
    )


def lr_plus(c: OneVsRest) -> Quantity:
    return ratio_with_limit(c.tp * c.negatives, c.fp * c.positives, undefined=c.one_sided_actual)


def lr_minus(c: OneVsRest) -> Quantity:
    return ratio_with_limit(c.fn * c.negatives, c.tn * c.positives, undefined=c.one_sided_actual)


def prevalence_threshold(c: OneVsRest) -> Quantity:
    """sqrt(FPR) / (sqrt(TPR) + sqrt(FPR)), which unlike the usual quotient is 1/2 at chance."""
    false_side = np.sqrt(as_float(c.fp * c.positives))
    true_side = np.sqrt(as_float(c.tp * c.negatives))
    neither = renamed(Reason.ZERO_OVER_ZERO, c.no_predicted_positives)
    undefined = first_cause(c.one_sided_actual, neither)
    return fraction(false_side, true_side + false_side, undefined)


def dor(c: OneVsRest) -> Quantity:
    return ratio_with_limit(c.tp * c.tn, c.fp * c.fn)


def lift(c: OneVsRest) -> Quantity:
    undefined = first_cause(c.no_positives, c.no_predicted_positives)
    return fraction(c.tp * c.total, c.positives * c.predicted_positives, undefined)


def p4(c: OneVsRest) -> Quantity:
    """Harmonic mean of precision, recall, specificity and NPV; 0 where one of them is 0."""
    hits = 4 * c.tp * c.tn
    below = hits + (c.tp + c.tn) * (c.fp + c.fn)
    undefined = first_cause(c.one_sided_actual, c.one_sided_predicted)
    # With no right answer at all, every rate is 0 and so is their mean, though below is 0 too.
    return fraction(hits, below + (below == 0), undefined)


PER_CLASS: Mapping[str, Callable[[OneVsRest], Quantity]] = MappingProxyType(
    {
        "tp": tp,
        "fn": fn,
        "fp": fp,
        "tn": tn,
        "support": support,
        "predicted": predicted,
        "prevalence": prevalence,
        "predicted_rate": predicted_rate,
        "recall": recall,
        "specificity": specificity,
        "precision": precision,
        "npv": npv,
        "fpr": fpr,
        "fnr": fnr,
        "fdr": fdr,
        "for": false_omission_rate,
        "f1": f1,
        "f0_5": f0_5,
        "f2": f2,
        "jaccard": jaccard,
        "accuracy_ovr": accuracy_ovr,
        "balanced_accuracy_ovr": balanced_accuracy_ovr,
        "informedness": informedness,
        "markedness": markedness,
        "gmean": gmean,
        "fowlkes_mallows": fowlkes_mallows,
        "mcc_ovr": mcc_ovr,
        "lr_plus": lr_plus,
        "lr_minus": lr_minus,
        "prevalence_threshold": prevalence_threshold,
        "dor": dor,
        "lift": lift,
        "p4": p4,
    }
)


def _cases(c: OneVsRest, whole: NDArray[Any]) -> Quantity:
    return defined(as_float(whole) / float(c.unit))


def _at_most_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undo the last-digit excess that a rounded root can cause."""
    return np.minimum(values, 1.0)


def _within_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.minimum(np.maximum(values, -1.0), 1.0)
