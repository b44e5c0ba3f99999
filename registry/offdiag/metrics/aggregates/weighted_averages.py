"""Averages weighted by samples: micro, weighted, and multiclass informedness and markedness.

An undefined class value counts as 0; `weighted_precision_defined` leaves such classes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.aggregates.classified import AggregateMetric, Classified
from offdiag.metrics.gradients import ClassShares, Dual
from offdiag.metrics.quantity import Quantity, as_float, cause, first_cause, fraction
from offdiag.metrics.spec import (
    BOTH_ROLES_ALIKE,
    CLASS_VALUE_UNDEFINED,
    ERRING_CLASS,
    NAMED_CLASS,
    NO_SAMPLES,
    OF_MATRIX,
    OF_MATRIX_LESS_BIAS,
    PATTERN_OF_ERRORS,
    POWERS,
    SHARE_OF_CORRECT,
    WILSON,
    WILSON_TRANSFORMED,
    ZENG,
    Symmetry,
    with_all_inversions,
)
from offdiag.metrics.tally import CLASS_AXIS, over_classes

Formula = Callable[[Classified], Quantity]
Slopes = Callable[[ClassShares], Dual]

RATES: dict[str, Slopes] = {
    "precision": lambda s: s.precision,
    "recall": lambda s: s.recall,
    "f1": lambda s: s.f1,
    "jaccard": lambda s: s.jaccard,
}


def informedness_multiclass(m: Classified) -> Quantity:
    """Class informedness averaged by predicted share (Powers 2011)."""
    return _strict_mean(m, "informedness", m.tally.predicted)


def _informedness_slopes(s: ClassShares) -> Dual:
    false_alarms = s.predicted - s.hits
    return (s.predicted * (s.hits / s.actual - false_alarms / (1.0 - s.actual))).total()


def markedness_multiclass(m: Classified) -> Quantity:
    """Class markedness averaged by actual share (Powers 2011)."""
    return _strict_mean(m, "markedness", m.tally.actual)


def _markedness_slopes(s: ClassShares) -> Dual:
    missed = s.actual - s.hits
    return (s.actual * (s.hits / s.predicted - missed / (1.0 - s.predicted))).total()


def micro(m: Classified) -> Quantity:
    """Precision, recall and F1 from pooled counts: with one label per sample, the accuracy."""
    return m.aggregate["overall_accuracy"]


def micro_jaccard(m: Classified) -> Quantity:
    """Every error is one false negative and one false positive: S / (2 N - S)."""
    union = 2 * m.tally.total - m.tally.n_correct
    return fraction(m.tally.n_correct, union, m.tally.no_samples)


def weighted(key: str) -> Formula:
    """Support-weighted mean; an undefined class value counts as 0."""

    def by_support(m: Classified) -> Quantity:
        return fraction(_support_sum(m, key), m.tally.total, m.tally.no_samples)

    return by_support


def weighted_slopes(key: str) -> Slopes:
    return lambda s: (s.actual * RATES[key](s)).total()


def weighted_recall(m: Classified) -> Quantity:
    """Support cancels, so this is the overall accuracy, to the last digit."""
    return m.aggregate["overall_accuracy"]


def weighted_precision_defined(m: Classified) -> Quantity:
    """Support-weighted mean over the classes that were predicted at least once."""
    if m.per_class["precision"].causes is None:
        return m.aggregate["weighted_precision"]  # All classes were predicted.
    covered = over_classes(np.where(m.tally.predicted == 0, 0, m.tally.actual))
    undefined = first_cause(m.tally.no_samples, cause(Reason.CLASS_VALUE_UNDEFINED, covered == 0))
    return fraction(_support_sum(m, "precision"), covered, undefined)


def _weighted_precision_defined_slopes(s: ClassShares) -> Dual:
    covered = s.actual.where(s.is_predicted).total()
    return (s.actual * s.precision).total() / covered


def strict(m: Classified, key: str, mean: Quantity) -> Quantity:
    """A mean, undefined if there are samples but some declared class has no value."""
    causes = m.per_class[key].causes
    if causes is None:
        return mean
    has_undefined = causes.any(axis=CLASS_AXIS) & ~m.tally.is_empty
    return mean.because(Reason.CLASS_VALUE_UNDEFINED, has_undefined)


def _strict_mean(m: Classified, key: str, weights: NDArray[Any]) -> Quantity:
    weighted_sum = over_classes(as_float(weights) * m.per_class[key].or_zero())
    mean = fraction(weighted_sum, m.tally.total, m.tally.no_samples)
    return strict(m, key, mean)


def _support_sum(m: Classified, key: str) -> NDArray[np.float64]:
    return over_classes(as_float(m.tally.actual) * m.per_class[key].or_zero())


_ANY_ERROR = (PATTERN_OF_ERRORS, NAMED_CLASS, ERRING_CLASS)

ORIENTED = Symmetry(class_inversion=True)

OPITZ = "Opitz and Burst 2019, arXiv 1911.03347"


def _micro(key: str, name: str, item: str) -> AggregateMetric:
    return AggregateMetric(
        key=f"micro_{key}",
        compute=micro,
        slopes=lambda s: s.accuracy,
        interval=WILSON,
        title=f"Micro {name}",
        formula="S / N = accuracy, since each error is one false positive and one false negative",
        source=f"{ZENG}, {item} and Property 4",
        undefined_when=NO_SAMPLES,
        ignores=_ANY_ERROR,
        other_names={"scikit-learn": f"{key}_score(average='micro')"},
        notes="Differs from accuracy only if an example can have several labels.",
        symmetry=SHARE_OF_CORRECT,
    )


def _weighted(key: str, name: str, source: str, symmetry: Symmetry) -> AggregateMetric:
    return AggregateMetric(
        key=f"weighted_{key}",
        compute=weighted(key),
        slopes=weighted_slopes(key),
        interval=OF_MATRIX_LESS_BIAS if key == "precision" else OF_MATRIX,
        title=f"Weighted {name}",
        formula=f"sum t_k {name}_k / N, undefined values as 0",
        source=source,
        undefined_when=NO_SAMPLES,
        ignores=(PATTERN_OF_ERRORS,),
        other_names={"scikit-learn": f"{key}_score(average='weighted')"},
        notes="Large classes dominate, as in accuracy.",
        symmetry=symmetry,
    )


SPECS: tuple[AggregateMetric, ...] = (
    AggregateMetric(
        key="informedness_multiclass",
        compute=informedness_multiclass,
        slopes=_informedness_slopes,
        interval=OF_MATRIX_LESS_BIAS,
        title="Multi-class informedness",
        formula="sum p_k / N informedness_k",
        low=-1,
        source=POWERS,
        undefined_when=NO_SAMPLES | CLASS_VALUE_UNDEFINED,
        ignores=(PATTERN_OF_ERRORS,),
        notes="Provisional: the weights follow a single source, and no other library has this "
        "metric.",
        symmetry=with_all_inversions(roles="markedness_multiclass"),
    ),
    AggregateMetric(
        key="markedness_multiclass",
        compute=markedness_multiclass,
        slopes=_markedness_slopes,
        interval=OF_MATRIX_LESS_BIAS,
        title="Multi-class markedness",
        formula="sum t_k / N markedness_k",
        low=-1,
        source=POWERS,
        undefined_when=NO_SAMPLES | CLASS_VALUE_UNDEFINED,
        ignores=(PATTERN_OF_ERRORS,),
        notes="Provisional: the weights follow a single source, and no other library has this "
        "metric.",
        symmetry=with_all_inversions(roles="informedness_multiclass"),
    ),
    _micro("precision", "precision", "item 13"),
    _micro("recall", "recall", "item 14"),
    _micro("f1", "F1", "item 15"),
    AggregateMetric(
        key="micro_jaccard",
        compute=micro_jaccard,
        slopes=lambda s: s.accuracy / (2.0 - s.accuracy),
        interval=WILSON_TRANSFORMED,
        title="Micro Jaccard",
        formula="S / (2 N - S)",
        source="Jaccard 1912, New Phytologist 11(2), 37-50, on pooled counts",
        undefined_when=NO_SAMPLES,
        ignores=_ANY_ERROR,
        other_names={"scikit-learn": "jaccard_score(average='micro')"},
        notes="Equals OA / (2 - OA), so it ranks classifiers in the same order as accuracy.",
        symmetry=BOTH_ROLES_ALIKE,
    ),
    _weighted("precision", "precision", f"{ZENG}, item 16", ORIENTED),
    AggregateMetric(
        key="weighted_recall",
        compute=weighted_recall,
        slopes=weighted_slopes("recall"),
        interval=WILSON,
        title="Weighted recall",
        formula="sum t_k recall_k / N = S / N = accuracy",
        source=f"{ZENG}, item 17 and Property 4",
        undefined_when=NO_SAMPLES,
        ignores=_ANY_ERROR,
        other_names={"scikit-learn": "recall_score(average='weighted')"},
        symmetry=SHARE_OF_CORRECT,
    ),
    _weighted("f1", "F1", f"{ZENG}, Table 11 (its item 18 is weighted_f1_harmonic)", ORIENTED),
    _weighted("jaccard", "Jaccard", OPITZ, ORIENTED),
    AggregateMetric(
        key="weighted_precision_defined",
        compute=weighted_precision_defined,
        slopes=_weighted_precision_defined_slopes,
        interval=OF_MATRIX_LESS_BIAS,
        title="Weighted precision (predicted classes only)",
        formula="sum t_k precision_k / sum t_k over the classes with p_k > 0",
        source=f"{ZENG}, item 16, without undefined classes",
        undefined_when=NO_SAMPLES
        | {Reason.CLASS_VALUE_UNDEFINED: "only classes without examples are predicted"},
        ignores=(PATTERN_OF_ERRORS,),
        other_names={"scikit-learn": "precision_score(average='weighted', zero_division=nan)"},
        notes="Favours a classifier that never predicts some class, because that class is left "
        "out.",
        symmetry=ORIENTED,
    ),
)
