"""How often the classifier is right, overall or class by class, and constant predictions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.extras import optional
from offdiag.metrics.aggregates.classified import AggregateMetric, Classified
from offdiag.metrics.gradients import ClassShares, Dual
from offdiag.metrics.quantity import (
    Quantity,
    as_float,
    cause,
    defined,
    defined_except,
    first_cause,
    fraction,
)
from offdiag.metrics.spec import (
    BOTH_ROLES_ALIKE,
    ERRING_CLASS,
    FEW_OR_ABSENT,
    LECTURE,
    LESS_TWICE_THE_BIAS,
    MEAN_RECALL,
    NAMED_CLASS,
    NO_INTERVAL,
    NO_SAMPLES,
    PATTERN_OF_ERRORS,
    SHARE_OF_CORRECT,
    WILSON,
    WILSON_TRANSFORMED,
    ZENG,
    Direction,
    Symmetry,
    Transformation,
    with_all_inversions,
)
from offdiag.metrics.tally import over_classes


def balanced_accuracy(m: Classified) -> Quantity:
    """Mean recall over the classes that have samples."""
    return fraction(m.class_sum("recall"), m.tally.n_actual_classes, m.tally.no_samples)


def balanced_accuracy_adjusted(m: Classified) -> Quantity:
    """Balanced accuracy with chance (1/K' of the K' actual classes) at 0 and perfection at 1."""
    n_actual = m.tally.n_actual_classes
    undefined = first_cause(m.tally.no_samples, cause(Reason.SINGLE_ACTUAL_CLASS, n_actual == 1))
    return fraction(m.class_sum("recall") - 1.0, n_actual - 1, undefined)


def _balanced_accuracy_adjusted_slopes(s: ClassShares) -> Dual:
    n_actual = int(s.has_samples.sum())
    return (s.recall.total() - 1.0) / (n_actual - 1) if n_actual > 1 else s.undefined


def gmean_multiclass(m: Classified) -> Quantity:
    """Geometric mean of the recalls of the classes that have samples."""
    recall = m.per_class["recall"]
    # A class without samples does not count; log 1 = 0 leaves the sum as it is. The sum of
    # logarithms stays in range where a product of a thousand recalls would underflow. For a class
    # that is always missed the logarithm is -inf, which makes the mean 0.
    values = recall.value if recall.causes is None else np.where(recall.causes, 1.0, recall.value)
    with np.errstate(divide="ignore"):
        log_sum = over_classes(np.log(values))
    return fraction(log_sum, m.tally.n_actual_classes, m.tally.no_samples).map(np.exp)


def _gmean_multiclass_slopes(s: ClassShares) -> Dual:
    logs = s.recall.log().where(s.has_samples).total()
    return (logs / int(s.has_samples.sum())).exp()


def average_accuracy(m: Classified) -> Quantity:
    """Mean of (TP + TN) / N over classes: 1 - 2/K + 2/K OA (Zeng 2025, Property 3)."""
    k, total = m.tally.n_classes, m.tally.total
    return fraction((k - 2) * total + 2 * m.tally.n_correct, k * total, m.tally.no_samples)


def average_error_rate(m: Classified) -> Quantity:
    """Mean of (FP + FN) / N over classes: 2/K (1 - OA) (Zeng 2025, Property 2)."""
    wrong = m.tally.total - m.tally.n_correct
    return fraction(2 * wrong, m.tally.n_classes * m.tally.total, m.tally.no_samples)


def nir_p_value(m: Classified) -> Quantity:
    """P(X >= correct) for X binomial with N trials and the majority baseline as rate.

    It is computed with the incomplete beta function. Beyond about 1e16 samples SciPy returns NaN
    near the median; the normal approximation with continuity correction, within 1e-7, is used
    there. It is 1 if no prediction is correct, or if all samples are of one class.
    """
    with optional:
        from scipy.special import betainc, ndtr

    tally = m.tally
    correct, total = as_float(tally.n_correct), as_float(tally.total)
    is_certain = (tally.n_correct == 0) | (tally.largest_class == tally.total)
    baseline = np.where(is_certain, 0.5, m.aggregate["majority_baseline"].value)
    tail = betainc(np.maximum(correct, 1.0), total - correct + 1.0, baseline)
    is_missing = np.isnan(tail)
    if np.count_nonzero(is_missing):
        deviation = np.sqrt(np.maximum(total * baseline * (1.0 - baseline), 1.0))
        tail = np.where(is_missing, ndtr((total * baseline - correct + 0.5) / deviation), tail)
    undefined = tally.no_samples
    if tally.weighted:
        undefined = first_cause(undefined, tally.everywhere(Reason.FRACTIONAL_WEIGHTS))
    # A probability too small for a float is not 0.
    tail = np.maximum(tail, np.finfo(np.float64).tiny)
    return defined_except(np.where(is_certain, 1.0, tail), undefined)


def _share_of_samples(m: Classified, n_samples: NDArray[Any]) -> Quantity:
    return fraction(n_samples, m.tally.total, m.tally.no_samples)


_ANY_ERROR = (PATTERN_OF_ERRORS, NAMED_CLASS, ERRING_CLASS)

_BY_ROW = (PATTERN_OF_ERRORS, NAMED_CLASS)

_SIZE = Symmetry(role_swap=True, class_inversion=True, prevalence_independent=True)

_CARET = "Kuhn 2008, Journal of Statistical Software 28(5) (caret)"

_ROLES = Transformation.ROLE_SWAP

SPECS: tuple[AggregateMetric, ...] = (
    AggregateMetric(
        key="n",
        compute=lambda m: defined(as_float(m.tally.total) / float(m.tally.unit)),
        interval=NO_INTERVAL,
        title="Number of examples",
        symbol="N",
        formula="sum of all c_ij",
        high=math.inf,
        direction=Direction.NEITHER,
        source=f"{LECTURE}, section 12.2",
        ignores=_ANY_ERROR,
        other_names={"PyCM": "POP"},
        notes="With sample weights, the sum of the weights.",
        symmetry=BOTH_ROLES_ALIKE,
    ),
    AggregateMetric(
        key="n_classes",
        compute=lambda m: defined(np.full(m.tally.total.shape, float(m.tally.n_classes))),
        interval=NO_INTERVAL,
        title="Declared classes",
        symbol="K",
        formula="number of declared labels",
        low=1,
        high=math.inf,
        direction=Direction.NEITHER,
        source=f"{ZENG} (r)",
        ignores=_ANY_ERROR,
        symmetry=_SIZE,
    ),
    AggregateMetric(
        key="n_classes_actual",
        compute=lambda m: defined(m.tally.n_actual_classes),
        interval=NO_INTERVAL,
        title="Classes with examples",
        symbol="K'",
        formula="number of classes with t_k > 0",
        high=math.inf,
        direction=Direction.NEITHER,
        source=f"{ZENG}, item 5",
        ignores=_ANY_ERROR,
        notes="If there are fewer than declared, the data say nothing about some classes.",
        symmetry=Symmetry(
            class_inversion=True,
            prevalence_independent=True,
            becomes={_ROLES: "n_classes_predicted"},
        ),
    ),
    AggregateMetric(
        key="n_classes_predicted",
        compute=lambda m: defined(m.tally.n_predicted_classes),
        interval=NO_INTERVAL,
        title="Predicted classes",
        formula="number of classes with p_k > 0",
        high=math.inf,
        direction=Direction.NEITHER,
        source=f"{ZENG}, equation 11",
        ignores=_ANY_ERROR,
        notes="If it is 1, the prediction is constant.",
        symmetry=Symmetry(
            class_inversion=True,
            prevalence_independent=True,
            becomes={_ROLES: "n_classes_actual"},
        ),
    ),
    AggregateMetric(
        key="overall_accuracy",
        compute=lambda m: _share_of_samples(m, m.tally.n_correct),
        slopes=lambda s: s.accuracy,
        interval=WILSON,
        namesakes=("average_accuracy", "balanced_accuracy"),
        title="Accuracy",
        symbol="OA",
        formula="S / N",
        source=f"{ZENG}, item 19; {LECTURE}, equation 12.22",
        undefined_when=NO_SAMPLES,
        ignores=_ANY_ERROR,
        other_names={
            "scikit-learn": "accuracy_score",
            "PyCM": "Overall ACC",
            "torchmetrics": "multiclass_accuracy(average='micro'); its default is the mean recall",
            "caret": "Accuracy",
        },
        notes="Hardly depends on small classes: a model can miss all of their examples and still "
        "score high.",
        symmetry=SHARE_OF_CORRECT,
    ),
    AggregateMetric(
        key="error_rate",
        compute=lambda m: _share_of_samples(m, m.tally.total - m.tally.n_correct),
        slopes=lambda s: 1.0 - s.accuracy,
        interval=WILSON,
        namesakes=("average_error_rate",),
        title="Error rate",
        formula="1 - S / N",
        direction=Direction.LOWER,
        source=f"{ZENG}, section 6.1 (its item 21 is average_error_rate)",
        undefined_when=NO_SAMPLES,
        ignores=_ANY_ERROR,
        other_names={"scikit-learn": "zero_one_loss", "PyCM": "Hamming Loss"},
        symmetry=SHARE_OF_CORRECT,
    ),
    AggregateMetric(
        key="average_accuracy",
        compute=average_accuracy,
        slopes=lambda s: 1.0 - 2.0 * (1.0 - s.accuracy) / s.n_classes,
        interval=WILSON_TRANSFORMED,
        namesakes=("overall_accuracy", "balanced_accuracy"),
        title="Average accuracy",
        symbol="AA",
        formula="mean over classes of (TP + TN) / N = 1 - 2/K + 2/K OA",
        source=f"{ZENG}, item 20 and Property 3",
        undefined_when=NO_SAMPLES,
        ignores=_ANY_ERROR,
        other_names={"PyCM": "ACC Macro"},
        notes="Not a primary metric: with ten classes it is 0.80 even if every prediction is "
        "wrong.",
        symmetry=SHARE_OF_CORRECT,
    ),
    AggregateMetric(
        key="average_error_rate",
        compute=average_error_rate,
        slopes=lambda s: 2.0 * (1.0 - s.accuracy) / s.n_classes,
        interval=WILSON_TRANSFORMED,
        namesakes=("error_rate",),
        title="Average error rate",
        formula="1 - average accuracy = 2/K (1 - OA)",
        direction=Direction.LOWER,
        source=f"{ZENG}, item 21 and Property 2",
        undefined_when=NO_SAMPLES,
        ignores=_ANY_ERROR,
        notes="Often called error rate as well, but the two are equal only for two classes.",
        symmetry=SHARE_OF_CORRECT,
    ),
    AggregateMetric(
        key="majority_baseline",
        compute=lambda m: _share_of_samples(m, m.tally.largest_class),
        interval=NO_INTERVAL,
        title="Majority baseline",
        symbol="J",
        formula="largest t_k / N",
        direction=Direction.NEITHER,
        source=f"{LECTURE}, section 12.4.2",
        undefined_when=NO_SAMPLES,
        ignores=_BY_ROW,
        other_names={"PyCM": "NIR", "caret": "AccuracyNull"},
        notes="The accuracy of always predicting the most frequent class. A model whose accuracy "
        "is not well above it has learned little.",
        symmetry=Symmetry(class_inversion=True),
    ),
    AggregateMetric(
        key="nir_p_value",
        compute=nir_p_value,
        interval=NO_INTERVAL,
        title="p-value against the majority baseline",
        formula="P(X >= S), X binomial with N trials and rate J",
        direction=Direction.LOWER,
        source=_CARET,
        undefined_when=NO_SAMPLES
        | {Reason.FRACTIONAL_WEIGHTS: "cells are sums of sample weights, not numbers of examples"},
        ignores=_BY_ROW,
        other_names={"PyCM": "P-Value", "caret": "AccuracyPValue"},
        notes="The probability of at least as many correct predictions if each were correct with "
        "probability J, the share of the majority class. J is treated as known, although it is "
        "estimated from the same data.",
        symmetry=Symmetry(class_inversion=True),
    ),
    AggregateMetric(
        key="balanced_accuracy",
        compute=balanced_accuracy,
        slopes=lambda s: s.recall.total() / int(s.has_samples.sum()),
        averages_classes=True,
        interval=MEAN_RECALL,
        namesakes=(
            "balanced_accuracy_adjusted",
            "overall_accuracy",
            "average_accuracy",
            "gmean_multiclass",
        ),
        title="Balanced accuracy",
        formula="mean of c_kk / t_k over the K' classes with examples",
        source="Brodersen et al. 2010, ICPR, 3121-3124",
        undefined_when=NO_SAMPLES,
        ignores=_BY_ROW,
        other_names={
            "scikit-learn": "balanced_accuracy_score",
            "torchmetrics": "multiclass_accuracy",
        },
        notes="Every class counts the same, however small. Classes without examples are left out.",
        symmetry=with_all_inversions(roles="macro_precision_defined", prevalence_independent=True),
    ),
    AggregateMetric(
        key="balanced_accuracy_adjusted",
        compute=balanced_accuracy_adjusted,
        slopes=_balanced_accuracy_adjusted_slopes,
        averages_classes=True,
        interval=MEAN_RECALL,
        namesakes=("balanced_accuracy",),
        title="Adjusted balanced accuracy",
        formula="(balanced accuracy - 1/K') / (1 - 1/K')",
        low=-1,
        source="Brodersen et al. 2010, ICPR, 3121-3124",
        undefined_when=NO_SAMPLES
        | {Reason.SINGLE_ACTUAL_CLASS: "only one class has examples (K' = 1)"},
        ignores=_BY_ROW,
        other_names={
            "scikit-learn": "balanced_accuracy_score(adjusted=True) (-inf where undefined)"
        },
        notes="0 for chance and for every constant prediction, 1 if all predictions are correct, "
        "-1 / (K' - 1) if none is.",
        symmetry=with_all_inversions(prevalence_independent=True),
    ),
    AggregateMetric(
        key="gmean_multiclass",
        compute=gmean_multiclass,
        slopes=_gmean_multiclass_slopes,
        averages_classes=True,
        interval=f"{LESS_TWICE_THE_BIAS} {FEW_OR_ABSENT}",
        namesakes=("balanced_accuracy",),
        title="Geometric mean of the recalls",
        formula="(product of c_kk / t_k)^(1/K') over the K' classes with examples",
        source="Sun et al. 2006, ICDM, 592-602",
        undefined_when=NO_SAMPLES,
        ignores=_BY_ROW,
        other_names={"imbalanced-learn": "geometric_mean_score(average='multiclass')"},
        notes="0 if any class is missed completely.",
        symmetry=Symmetry(class_inversion=True, prevalence_independent=True),
    ),
)
