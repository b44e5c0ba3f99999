"""Per class: ratios without an upper bound, and metrics that weigh several rates."""

from __future__ import annotations

import math

import numpy as np

from offdiag.domain.values import Reason
from offdiag.metrics.gradients import Dual, OutcomeShares
from offdiag.metrics.per_class.one_vs_rest import ClassMetric, OneVsRest
from offdiag.metrics.quantity import (
    Quantity,
    as_float,
    first_cause,
    fraction,
    ratio_with_limit,
    renamed,
)
from offdiag.metrics.spec import (
    BOTH_ROLES_ALIKE,
    NO_POSITIVES,
    NO_PREDICTED_POSITIVES,
    ONE_SIDED_ACTUAL,
    ONE_SIDED_PREDICTED,
    Direction,
    Symmetry,
)


def lr_plus(c: OneVsRest) -> Quantity:
    """Recall / FPR; tends to +inf without false positives (Glas et al. 2003)."""
    return ratio_with_limit(c.tp * c.negatives, c.fp * c.positives, undefined=c.one_sided_actual)


def lr_minus(c: OneVsRest) -> Quantity:
    """FNR / specificity; tends to +inf without true negatives (Glas et al. 2003)."""
    return ratio_with_limit(c.fn * c.negatives, c.tn * c.positives, undefined=c.one_sided_actual)


def prevalence_threshold(c: OneVsRest) -> Quantity:
    """sqrt(FPR) / (sqrt(TPR) + sqrt(FPR)), which unlike the usual quotient is 1/2 at chance."""
    false_side = np.sqrt(as_float(c.fp * c.positives))
    true_side = np.sqrt(as_float(c.tp * c.negatives))
    neither = renamed(Reason.ZERO_OVER_ZERO, c.no_predicted_positives)
    undefined = first_cause(c.one_sided_actual, neither)
    return fraction(false_side, true_side + false_side, undefined)


def lift(c: OneVsRest) -> Quantity:
    """Precision / prevalence (Brin et al. 1997)."""
    undefined = first_cause(c.no_positives, c.no_predicted_positives)
    return fraction(c.tp * c.total, c.positives * c.predicted_positives, undefined)


def p4(c: OneVsRest) -> Quantity:
    """Harmonic mean of precision, recall, specificity and NPV; 0 where one of them is 0."""
    hits = 4 * c.tp * c.tn
    denominator = hits + (c.tp + c.tn) * (c.fp + c.fn)
    undefined = first_cause(c.one_sided_actual, c.one_sided_predicted)
    # Without correct predictions all rates and their mean are 0, though the denominator is 0 too.
    return fraction(hits, denominator + (denominator == 0), undefined)


def _prevalence_threshold_slopes(s: OutcomeShares) -> Dual:
    false_side = s.fpr.sqrt()
    return false_side / (s.recall.sqrt() + false_side)


def _p4_slopes(s: OutcomeShares) -> Dual:
    hits = 4.0 * (s.tp * s.tn)
    return hits / (hits + (s.tp + s.tn) * (s.fp + s.fn))


_GLAS = "Glas et al. 2003, Journal of Clinical Epidemiology 56(11), 1129-1135"

_OF_RATES = Symmetry(full_inversion=True, prevalence_independent=True)

SPECS: tuple[ClassMetric, ...] = (
    ClassMetric(
        key="lr_plus",
        compute=lr_plus,
        slopes=lambda s: s.recall / s.fpr,
        title="Positive likelihood ratio",
        symbol="LR+",
        formula="recall / FPR",
        high=math.inf,
        source=_GLAS,
        undefined_when=ONE_SIDED_ACTUAL
        | {
            Reason.POSITIVE_OVER_ZERO: "there are true positives but no false positives; tends to "
            "+inf",
            Reason.ZERO_OVER_ZERO: "there are neither true nor false positives",
        },
        other_names={
            "scikit-learn": "class_likelihood_ratios [0]",
            "PyCM": "PLR",
            "TFMA": "PositiveLikelihoodRatio",
        },
        notes="The factor by which predicting the class multiplies its odds. 1 is chance.",
        symmetry=_OF_RATES,
    ),
    ClassMetric(
        key="lr_minus",
        compute=lr_minus,
        slopes=lambda s: (s.fn / s.positives) / s.specificity,
        title="Negative likelihood ratio",
        symbol="LR-",
        formula="FNR / specificity",
        high=math.inf,
        direction=Direction.LOWER,
        source=_GLAS,
        undefined_when=ONE_SIDED_ACTUAL
        | {
            Reason.POSITIVE_OVER_ZERO: "there are false negatives but no true negatives; tends to "
            "+inf",
            Reason.ZERO_OVER_ZERO: "there are neither false nor true negatives",
        },
        other_names={
            "scikit-learn": "class_likelihood_ratios [1]",
            "PyCM": "NLR",
            "TFMA": "NegativeLikelihoodRatio",
        },
        notes="The factor by which not predicting the class multiplies its odds. 1 is chance.",
        symmetry=_OF_RATES,
    ),
    ClassMetric(
        key="prevalence_threshold",
        compute=prevalence_threshold,
        slopes=_prevalence_threshold_slopes,
        title="Prevalence threshold",
        formula="sqrt(FPR) / (sqrt(recall) + sqrt(FPR))",
        direction=Direction.LOWER,
        source="Balayla 2020, PLoS ONE 15(10) e0240215",
        undefined_when=ONE_SIDED_ACTUAL
        | {Reason.ZERO_OVER_ZERO: "there are neither true nor false positives"},
        other_names={"TFMA": "PrevalenceThreshold (fails at chance level)"},
        notes="Below this prevalence, precision falls off sharply. 1/2 at chance.",
        symmetry=_OF_RATES,
    ),
    ClassMetric(
        key="dor",
        compute=lambda c: ratio_with_limit(c.tp * c.tn, c.fp * c.fn),
        slopes=lambda s: (s.tp * s.tn) / (s.fp * s.fn),
        title="Diagnostic odds ratio",
        symbol="DOR",
        formula="TP TN / (FP FN)",
        high=math.inf,
        source=_GLAS,
        undefined_when={
            Reason.POSITIVE_OVER_ZERO: "one kind of error does not occur; tends to +inf",
            Reason.ZERO_OVER_ZERO: "one kind of error and one kind of correct prediction do not "
            "occur",
        },
        other_names={"PyCM": "DOR", "TFMA": "DiagnosticOddsRatio"},
        notes="The positive divided by the negative likelihood ratio. 1 is chance.",
        symmetry=Symmetry(
            role_swap=True,
            class_inversion=True,
            scoring_inversion=True,
            full_inversion=True,
            prevalence_independent=True,
        ),
    ),
    ClassMetric(
        key="lift",
        compute=lift,
        slopes=lambda s: s.tp / (s.positives * s.predicted),
        title="Lift",
        formula="precision / prevalence = TP N / (t p)",
        high=math.inf,
        source="Brin et al. 1997, SIGMOD Record 26(2), 255-264",
        undefined_when=NO_POSITIVES | NO_PREDICTED_POSITIVES,
        other_names={"PyCM": "LS"},
        notes="How many times as often predictions of the class are correct as random ones would "
        "be.",
        symmetry=Symmetry(role_swap=True),
    ),
    ClassMetric(
        key="p4",
        compute=p4,
        slopes=_p4_slopes,
        title="P4",
        symbol="P4",
        formula="4 TP TN / (4 TP TN + (TP + TN)(FP + FN))",
        source="Sitarz 2022, arXiv 2210.11997",
        undefined_when=ONE_SIDED_ACTUAL | ONE_SIDED_PREDICTED,
        notes="The harmonic mean of precision, recall, specificity and NPV: a symmetric version "
        "of F1.",
        symmetry=BOTH_ROLES_ALIKE,
    ),
)
