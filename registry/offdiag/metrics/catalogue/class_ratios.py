"""Per-class entries: ratios without an upper bound, and what follows from them."""

from __future__ import annotations

import math

from offdiag.domain.values import Reason
from offdiag.metrics.spec import (
    NO_POSITIVES,
    NO_PREDICTED_POSITIVES,
    ONE_SIDED_ACTUAL,
    Direction,
    MetricSpec,
    Scope,
    Symmetry,
)

_GLAS = "Glas et al. 2003, Journal of Clinical Epidemiology 56(11), 1129-1135"
_OF_RATES = Symmetry(full_inversion=True, prevalence_independent=True)

SPECS: tuple[MetricSpec, ...] = (
    MetricSpec(
        key="lr_plus",
        scope=Scope.PER_CLASS,
        title="Positive likelihood ratio",
        symbol="LR+",
        formula="recall / FPR",
        low=0,
        high=math.inf,
        direction=Direction.HIGHER,
        source=_GLAS,
        undefined_when=ONE_SIDED_ACTUAL
        | {
            Reason.POSITIVE_OVER_ZERO: "there is a hit and no false alarm; tends to +inf",
            Reason.ZERO_OVER_ZERO: "there is neither a hit nor a false alarm",
        },
        other_names={
            "scikit-learn": "class_likelihood_ratios [0]",
            "PyCM": "PLR",
            "TFMA": "PositiveLikelihoodRatio",
        },
        notes="By how much naming the class multiplies its odds. 1 is chance.",
        symmetry=_OF_RATES,
    ),
    MetricSpec(
        key="lr_minus",
        scope=Scope.PER_CLASS,
        title="Negative likelihood ratio",
        symbol="LR-",
        formula="FNR / specificity",
        low=0,
        high=math.inf,
        direction=Direction.LOWER,
        source=_GLAS,
        undefined_when=ONE_SIDED_ACTUAL
        | {
            Reason.POSITIVE_OVER_ZERO: "there is a miss and no true negative; tends to +inf",
            Reason.ZERO_OVER_ZERO: "there is neither a miss nor a true negative",
        },
        other_names={
            "scikit-learn": "class_likelihood_ratios [1]",
            "PyCM": "NLR",
            "TFMA": "NegativeLikelihoodRatio",
        },
        notes="By how much not naming the class multiplies its odds. 1 is chance.",
        symmetry=_OF_RATES,
    ),
    MetricSpec(
        key="prevalence_threshold",
        scope=Scope.PER_CLASS,
        title="Prevalence threshold",
        formula="sqrt(FPR) / (sqrt(recall) + sqrt(FPR))",
        low=0,
        high=1,
        direction=Direction.LOWER,
        source="Balayla 2020, PLoS ONE 15(10) e0240215",
        undefined_when=ONE_SIDED_ACTUAL
        | {Reason.ZERO_OVER_ZERO: "there is neither a hit nor a false alarm"},
        other_names={"TFMA": "PrevalenceThreshold (fails at chance level)"},
        notes="Below this prevalence the precision falls off sharply. 1/2 at chance.",
        symmetry=_OF_RATES,
    ),
    MetricSpec(
        key="dor",
        scope=Scope.PER_CLASS,
        title="Diagnostic odds ratio",
        symbol="DOR",
        formula="TP TN / (FP FN)",
        low=0,
        high=math.inf,
        direction=Direction.HIGHER,
        source=_GLAS,
        undefined_when={
            Reason.POSITIVE_OVER_ZERO: "one kind of error never happens; tends to +inf",
            Reason.ZERO_OVER_ZERO: "one kind of error and one kind of right answer are missing",
        },
        other_names={"PyCM": "DOR", "TFMA": "DiagnosticOddsRatio"},
        notes="The positive over the negative likelihood ratio. 1 is chance.",
        symmetry=Symmetry(
            role_swap=True,
            class_inversion=True,
            scoring_inversion=True,
            full_inversion=True,
            prevalence_independent=True,
        ),
    ),
    MetricSpec(
        key="lift",
        scope=Scope.PER_CLASS,
        title="Lift",
        formula="precision / prevalence = TP N / (t p)",
        low=0,
        high=math.inf,
        direction=Direction.HIGHER,
        source="Brin et al. 1997, SIGMOD Record 26(2), 255-264",
        undefined_when=NO_POSITIVES | NO_PREDICTED_POSITIVES,
        other_names={"PyCM": "LS"},
        notes="How many times more often the answer is right than a guess that names the "
        "class as often.",
        symmetry=Symmetry(role_swap=True),
    ),
)
