"""Means of the recalls: every class counts the same, however few samples it has."""

from __future__ import annotations

import numpy as np

from offdiag.domain.values import Reason
from offdiag.metrics.aggregates.classified import AggregateMetric, Classified
from offdiag.metrics.dual import ClassShares, Dual
from offdiag.metrics.quantity import Quantity, cause, first_cause, fraction
from offdiag.metrics.spec import (
    FEW_OR_ABSENT,
    MEAN_RECALL,
    NAMED_CLASS,
    NO_SAMPLES,
    PATTERN_OF_ERRORS,
    RESAMPLED,
    Symmetry,
    with_all_inversions,
)
from offdiag.metrics.tally import over_classes


def balanced_accuracy(m: Classified) -> Quantity:
    """Mean recall over the classes that have cases."""
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
    """Geometric mean of the recalls of the classes that have cases."""
    recall = m.per_class["recall"]
    # A class without samples takes no part; log 1 = 0 leaves the sum as it is. The sum of
    # logarithms stays in range where a product of a thousand recalls would underflow. That of
    # a class that is always missed is -inf, which makes the mean 0.
    values = recall.value if recall.causes is None else np.where(recall.causes, 1.0, recall.value)
    with np.errstate(divide="ignore"):
        log_sum = over_classes(np.log(values))
    return fraction(log_sum, m.tally.n_actual_classes, m.tally.no_samples).map(np.exp)


def _gmean_multiclass_slopes(s: ClassShares) -> Dual:
    logs = s.recall.log().where(s.has_samples).total()
    return (logs / int(s.has_samples.sum())).exp()


_BY_ROW = (PATTERN_OF_ERRORS, NAMED_CLASS)

SPECS: tuple[AggregateMetric, ...] = (
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
        notes="Every class counts the same however small; a class without examples is left out.",
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
        notes="0 is chance and every constant prediction, 1 perfect, -1 / (K' - 1) nothing right.",
        symmetry=with_all_inversions(prevalence_independent=True),
    ),
    AggregateMetric(
        key="gmean_multiclass",
        compute=gmean_multiclass,
        slopes=_gmean_multiclass_slopes,
        averages_classes=True,
        interval=f"{RESAMPLED} {FEW_OR_ABSENT}",
        namesakes=("balanced_accuracy",),
        title="Geometric mean of the recalls",
        formula="(product of c_kk / t_k)^(1/K') over the K' classes with examples",
        source="Sun et al. 2006, ICDM, 592-602",
        undefined_when=NO_SAMPLES,
        ignores=_BY_ROW,
        other_names={"imbalanced-learn": "geometric_mean_score(average='multiclass')"},
        notes="0 as soon as one class is missed completely.",
        symmetry=Symmetry(class_inversion=True, prevalence_independent=True),
    ),
)
