"""The catalogue: what each metric key means, what it ignores and how it can be misread.

Entries stand beside the formulas; they are collected here. A key has one entry in each scope it
exists in: the macro F1 of a single-label matrix and that of a multi-label evaluation are
different metrics under one name. Pages and the printed documentation take their words from here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from offdiag.metrics import aggregates, per_class
from offdiag.metrics.costs import summary
from offdiag.metrics.multilabel import suite as sets
from offdiag.metrics.scores import suite as scores
from offdiag.metrics.spec import Direction, MetricSpec, Scope, Symmetry, Transformation

__all__ = [
    "CATALOGUE",
    "CHANGES_SIGN",
    "DIRECTION_WORDS",
    "LETTERS",
    "SCOPE_TITLES",
    "SPECS",
    "TRANSFORMATION_WORDS",
    "Direction",
    "MetricSpec",
    "Scope",
    "Symmetry",
    "Transformation",
    "effect_words",
    "interval_method",
]

SPECS: tuple[MetricSpec, ...] = (
    *aggregates.SPECS,
    *per_class.SPECS,
    *sets.SPECS,
    *scores.SPECS,
    *summary.SPECS,
)
CATALOGUE: Mapping[Scope, Mapping[str, MetricSpec]] = MappingProxyType(
    {
        scope: MappingProxyType({spec.key: spec for spec in SPECS if spec.scope is scope})
        for scope in Scope
    }
)

SCOPE_TITLES: Mapping[Scope, str] = MappingProxyType(
    {
        Scope.AGGREGATE: "Of a confusion matrix",
        Scope.PER_CLASS: "Of one class against the rest",
        Scope.MULTILABEL: "Of a multi-label evaluation",
        Scope.PER_LABEL: "Of one label of a multi-label evaluation",
        Scope.PROBABILISTIC: "Of predicted scores",
        Scope.COST: "Of a confusion matrix and a cost matrix",
    }
)
DIRECTION_WORDS: Mapping[Direction, str] = MappingProxyType(
    {
        Direction.HIGHER: "higher is better",
        Direction.LOWER: "lower is better",
        Direction.NEITHER: "neither high nor low is better",
    }
)
TRANSFORMATION_WORDS: Mapping[Transformation, str] = MappingProxyType(
    {
        Transformation.RELAYOUT: "table laid out the other way, orientation stated",
        Transformation.ROLE_SWAP: (
            "actual and predicted swapped (a transposition nobody mentioned)"
        ),
        Transformation.LABEL_PERMUTATION: "classes listed in another order",
        Transformation.CLASS_INVERSION: "two classes: positive and negative trade names",
        Transformation.SCORING_INVERSION: "two classes: every answer inverted",
        Transformation.FULL_INVERSION: "two classes: both inversions",
    }
)
CHANGES_SIGN = frozenset({Transformation.SCORING_INVERSION, Transformation.FULL_INVERSION})
"""What turns good into bad, and so at best changes the sign of a metric."""

LETTERS: Mapping[str, str] = MappingProxyType(
    {
        "T": "role_swap",
        "L": "class_inversion",
        "S": "scoring_inversion",
        "F": "full_inversion",
        "P": "prevalence_independent",
    }
)
"""Letters for the symmetries of a metric, by the field that says whether it has them."""


def range_words(spec: MetricSpec) -> str:
    """ "0 to 1", "1 and more", "any number"."""
    if math.isinf(spec.high) and math.isinf(spec.low):
        return "any number"
    if math.isinf(spec.high):
        return f"{spec.low:g} and more"
    return f"{spec.low:g} to {spec.high:g}"


def symmetry_letters(symmetry: Symmetry | None) -> str:
    """The letters of the symmetries a metric has, separated by spaces."""
    if symmetry is None:
        return ""
    return " ".join(letter for letter, name in LETTERS.items() if getattr(symmetry, name))


def effect_words(symmetry: Symmetry, transformation: Transformation) -> tuple[str, str | None]:
    """What a transformation does to the value, and the metric that it becomes, if any.

    The words end before the name of that metric: ("becomes", "precision").
    """
    changes_sign = transformation in CHANGES_SIGN
    if getattr(symmetry, transformation.value):
        return "changes its sign on a centred scale" if changes_sign else "unchanged", None
    partner = symmetry.becomes.get(transformation)
    if partner is None:
        return "changes", None
    return "becomes the opposite of" if changes_sign else "becomes", partner


# How the interval of each metric is found, in words; see docs/intervals.md for when it is not.
NONE = "None: it is a fact of the data, or a number of cases or classes."
WILSON = "Wilson's, of a binomial proportion."
WILSON_TRANSFORMED = "Wilson's, of the binomial proportion that it is an increasing function of."
RESAMPLED = "Percentiles of 2,000 resampled matrices; the delta method above 200 classes."
_FEW = "No ends below 5 cases in the smallest class"
_FEW_OR_ABSENT = f"{_FEW}, and none where a declared class has no case."
MEAN_RECALL = (
    "Two classes: the Wilson ends of both recalls combined (MOVER). More: draws from the "
    f"posterior with prior 1/K; the delta method above 200 classes. {_FEW_OR_ABSENT}"
)
MACRO_F1 = (
    "Two classes: draws from the posterior with Jeffreys' prior. More: resampled matrices, "
    f"shifted by twice their bias; the delta method above 200 classes. {_FEW_OR_ABSENT}"
)
CHANCE_CORRECTED = (
    "Draws from the posterior, with Jeffreys' prior for two classes and 1/K for more; the delta "
    f"method above 200 classes. {_FEW}."
)
CALIBRATION = (
    "None keeps its level. In place of one: mean and 95 % quantile of what a perfectly calibrated "
    "model with the same scores would show (999 draws of consistency resampling), p, and the "
    "excess over the mean."
)
AVERAGED_AREA = (
    "DeLong's variance of the average, on the logit scale. No ends below 5 cases in the smallest "
    "class."
)
STUDENT_LOG = "Student's t of the mean loss, on the log scale."
RESAMPLED_CASES = "Percentiles of resampled cases, at most 2,000 and at least 200 times."
RESAMPLED_LABELS = f"{RESAMPLED_CASES} No ends where a label has fewer than 5 cases."

_RATES = ("prevalence", "predicted_rate", "recall", "fnr", "specificity", "fpr", "precision")
_MORE_RATES = ("fdr", "npv", "for", "accuracy_ovr", "jaccard")
_COUNTS = ("tp", "fn", "fp", "tn", "support", "predicted")
_AREAS: Mapping[str, str] = {
    "roc_auc": "Newcombe's score interval (method 5), also at 1. No ends below 5 cases in the "
    "smaller class.",
    "average_precision": "Delta method on the logit scale with Student's t of (positive cases - "
    "1) degrees; unreliable below 20 cases of the smaller class, no ends below 5.",
}
_PER_CLASS: Mapping[str, str] = {
    **dict.fromkeys((*_RATES, *_MORE_RATES), WILSON),
    "f1": WILSON_TRANSFORMED,
    **dict.fromkeys(_COUNTS, NONE),
    **_AREAS,
}
_AGGREGATE: Mapping[str, str] = {
    **dict.fromkeys(
        ("n", "n_classes", "n_classes_actual", "n_classes_predicted", "majority_baseline"), NONE
    ),
    "nir_p_value": NONE,
    **dict.fromkeys(
        ("overall_accuracy", "error_rate", "micro_precision", "micro_recall", "micro_f1"), WILSON
    ),
    "weighted_recall": WILSON,
    **dict.fromkeys(
        ("average_accuracy", "average_error_rate", "micro_jaccard"), WILSON_TRANSFORMED
    ),
    **dict.fromkeys(("balanced_accuracy", "balanced_accuracy_adjusted"), MEAN_RECALL),
    **dict.fromkeys(("mcc", "cohen_kappa"), CHANCE_CORRECTED),
}
_PROBABILISTIC: Mapping[str, str] = {
    **_AREAS,
    "ks": "The two-sample Kolmogorov-Smirnov bound, value -+ 1.358 sqrt(1/m + 1/n): valid and "
    "wide. Scores without skill stay below 1.358 sqrt(1/m + 1/n).",
    **dict.fromkeys(
        ("log_loss", "log_loss_clipped"),
        f"{STUDENT_LOG} Unreliable below 20 cases of the smallest class.",
    ),
    **dict.fromkeys(("brier_sum", "brier_half"), STUDENT_LOG),
    **dict.fromkeys(
        ("brier_reliability", "brier_resolution"), "Resampled cases, reflected around the value."
    ),
    "brier_uncertainty": NONE,
}
_MULTILABEL: Mapping[str, str] = {
    "subset_accuracy": WILSON,
    "coverage_error": "Student's t of the mean over cases.",
    "label_ranking_average_precision": "Student's t of the mean over cases.",
    "label_ranking_loss": STUDENT_LOG,
}


def interval_method(spec: MetricSpec) -> str:
    """One or two sentences for a page of reference."""
    return _BY_SCOPE[spec.scope](spec.key)


def _of_aggregate(key: str) -> str:
    if key.startswith("macro_recall"):
        return MEAN_RECALL
    if key.startswith("macro_f1") and key != "macro_f1_harmonic":
        return MACRO_F1
    if key.startswith("macro_") or key == "gmean_multiclass":
        return f"{RESAMPLED} {_FEW_OR_ABSENT}"
    return _AGGREGATE.get(key, RESAMPLED)


def _of_scores(key: str) -> str:
    if key.startswith(("ece_", "mce_")):
        return CALIBRATION
    if key.startswith("roc_auc_"):
        return AVERAGED_AREA
    return _PROBABILISTIC.get(key, WILSON)


def _of_sets(key: str) -> str:
    if key.startswith("macro_"):
        return RESAMPLED_LABELS
    return _MULTILABEL.get(key, RESAMPLED_CASES)


_BY_SCOPE: Mapping[Scope, Callable[[str], str]] = MappingProxyType(
    {
        Scope.AGGREGATE: _of_aggregate,
        Scope.PER_CLASS: lambda key: _PER_CLASS.get(key, RESAMPLED),
        Scope.MULTILABEL: _of_sets,
        Scope.PER_LABEL: lambda key: _PER_CLASS.get(key, "None."),
        Scope.PROBABILISTIC: _of_scores,
        Scope.COST: lambda key: "None." if key == "best_trivial_class" else RESAMPLED,
    }
)
