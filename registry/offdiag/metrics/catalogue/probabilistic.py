"""What the keys of scores mean.

p is the score of a class, y is 1 for the actual class and 0 otherwise, n the number of cases.
"""

from __future__ import annotations

import math

from offdiag.domain.values import Reason
from offdiag.metrics.scores.calibration import DEFAULT_BINS
from offdiag.metrics.scores.suite import LARGEST_K
from offdiag.metrics.spec import Direction, MetricSpec, Scope

_NO_PROBABILITIES = {
    Reason.SCORES_NOT_PROBABILITIES: "a score lies outside [0, 1], or the scores of a case do not "
    "sum to 1"
}
_ONE_SIDED = {
    Reason.NO_ACTUAL_POSITIVES: "no case is positive",
    Reason.NO_ACTUAL_NEGATIVES: "every case is positive",
}
_ABSENT_CLASS = {
    Reason.CLASS_VALUE_UNDEFINED: "a declared class has no case",
    Reason.TOO_FEW_CLASSES: "only one class is declared",
}
_ORDER_ONLY = ("everything about scores but their order", "the share of positive cases")
_MANN_WHITNEY = "Hanley and McNeil 1982, The meaning and use of the area under a ROC curve"
_HAND_TILL = "Hand and Till 2001, A simple generalisation of the area under the ROC curve"
_BRIER = "Brier 1950, Verification of forecasts expressed in terms of probability"
_MURPHY = "Murphy 1973, A new vector partition of the probability score"
_NAEINI = (
    "Naeini, Cooper and Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian "
    "binning"
)
_NGUYEN = "Nguyen and O'Connor 2015, Posterior calibration and exploratory analysis for NLP models"
_GUO = "Guo, Pleiss, Sun and Weinberger 2017, On calibration of modern neural networks"


def _area(kind: str, average: str) -> MetricSpec:
    """One of the four averaged areas."""
    parts = {
        "ovr": ("one against the rest", "classes", "the cases of the class", _MANN_WHITNEY),
        "ovo": ("one against one", "pairs of classes", "the cases of the pair", _HAND_TILL),
    }
    versus, over, weight, source = parts[kind]
    weighting = "each the same" if average == "macro" else f"weighted by {weight}"
    return MetricSpec(
        key=f"roc_auc_{kind}_{average}",
        scope=Scope.PROBABILISTIC,
        title=f"Area under the ROC curve, {versus}, {average}",
        formula=f"mean over {over} of the area {versus}, {weighting}",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=source,
        undefined_when=_ABSENT_CLASS,
        ignores=("everything about scores but their order",),
        other_names={
            "scikit-learn": f"roc_auc_score(multi_class='{kind}', average='{average}')",
            "torchmetrics": "multiclass_auroc (an absent class counts 0.0 there)"
            if kind == "ovr"
            else "none",
        },
        notes="A pair counts the mean of its two directions." if kind == "ovo" else "",
    )


def _calibration(key: str, title: str, score: str, binning: str, source: str) -> MetricSpec:
    return MetricSpec(
        key=key,
        scope=Scope.PROBABILISTIC,
        title=title,
        formula=f"sum over bins of (cases in the bin / n) |mean {score} - share of cases where "
        "it came true|",
        low=0,
        high=1,
        direction=Direction.LOWER,
        source=source,
        undefined_when=_NO_PROBABILITIES,
        ignores=("how well the scores separate the classes",),
        other_names={"torchmetrics": "calibration_error(norm='l1') with other bins"},
        notes=f"{binning} Depends on the bins and is biased upwards when they hold few cases.",
    )


def _top_k(k: int) -> MetricSpec:
    return MetricSpec(
        key=f"top_{k}_accuracy",
        scope=Scope.PROBABILISTIC,
        title=f"Top-{k} accuracy",
        formula=f"share of cases whose actual class is among the {k} with the highest score",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source="Russakovsky et al. 2015, ImageNet large scale visual recognition challenge",
        undefined_when={
            Reason.SCORES_NOT_PROBABILITIES: "only one of two classes has a score, which is no "
            "probability"
        },
        ignores=("everything about scores but their order within a case",),
        other_names={
            "scikit-learn": "top_k_accuracy_score (ties go to the highest class there)",
        },
        notes="Ties go to the class that was declared first."
        + (" This is the accuracy of the highest score." if k == 1 else ""),
    )


def _brier_part(
    key: str, title: str, formula: str, direction: Direction, notes: str
) -> MetricSpec:
    return MetricSpec(
        key=key,
        scope=Scope.PROBABILISTIC,
        title=title,
        formula=formula,
        low=0,
        high=2 if key == "brier_reliability" else 1,
        direction=direction,
        source=_MURPHY,
        undefined_when=_NO_PROBABILITIES,
        notes=f"{notes} brier_sum = reliability - resolution + uncertainty.",
    )


SPECS: tuple[MetricSpec, ...] = (
    MetricSpec(
        key="roc_auc",
        scope=Scope.PROBABILISTIC,
        title="Area under the ROC curve",
        formula="share of (positive, negative) pairs where the positive case scores higher, ties "
        "counting 1/2",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source=_MANN_WHITNEY,
        symbol="AUC",
        undefined_when=_ONE_SIDED,
        ignores=_ORDER_ONLY,
        other_names={
            "scikit-learn": "roc_auc_score",
            "SciPy": "mannwhitneyu statistic / (P N)",
            "PyCM": "none (its AUC is balanced accuracy)",
        },
        notes="Below 0.5 the scores point the wrong way, for example because they belong to the "
        "other class.",
    ),
    MetricSpec(
        key="average_precision",
        scope=Scope.PROBABILISTIC,
        title="Average precision",
        formula="sum over distinct thresholds of precision times the recall gained",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source="Davis and Goadrich 2006, The relationship between precision-recall and ROC curves",
        symbol="AP",
        undefined_when={Reason.NO_ACTUAL_POSITIVES: "no case is positive"},
        ignores=("everything about scores but their order",),
        other_names={
            "scikit-learn": "average_precision_score (0.0 without positive cases)",
        },
        notes="Useless scores reach the share of positive cases. The trapezoid under the "
        "precision-recall curve is another, larger number.",
    ),
    MetricSpec(
        key="ks",
        scope=Scope.PROBABILISTIC,
        title="Kolmogorov-Smirnov distance",
        formula="max over thresholds of |TPR - FPR|",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source="Smirnov 1948, Table for estimating the goodness of fit of empirical distributions",
        symbol="KS",
        undefined_when=_ONE_SIDED,
        ignores=_ORDER_ONLY,
        other_names={"SciPy": "ks_2samp statistic"},
        notes="Also large for scores that point the wrong way.",
    ),
    *(_area(kind, average) for kind in ("ovr", "ovo") for average in ("macro", "weighted")),
    MetricSpec(
        key="log_loss",
        scope=Scope.PROBABILISTIC,
        title="Log loss",
        formula="mean of -ln p of the actual class",
        low=0,
        high=math.inf,
        direction=Direction.LOWER,
        source="Good 1952, Rational decisions",
        undefined_when=_NO_PROBABILITIES
        | {Reason.TRUE_CLASS_GOT_ZERO: "an actual class got probability 0; it tends to +inf"},
        other_names={"scikit-learn": "log_loss (clips at the resolution of the score type)"},
        notes="In nats.",
    ),
    MetricSpec(
        key="log_loss_clipped",
        scope=Scope.PROBABILISTIC,
        title="Log loss, clipped",
        formula="mean of -ln p of the actual class, p moved into [1e-15, 1 - 1e-15]",
        low=0,
        high=-math.log(1e-15),
        direction=Direction.LOWER,
        source="Good 1952, Rational decisions",
        undefined_when=_NO_PROBABILITIES,
        notes="In nats. The bound is the same for scores of single and double precision.",
    ),
    MetricSpec(
        key="brier_sum",
        scope=Scope.PROBABILISTIC,
        title="Brier score, summed over classes",
        formula="mean over cases of the sum over classes of (p - y)^2",
        low=0,
        high=2,
        direction=Direction.LOWER,
        source=_BRIER,
        undefined_when=_NO_PROBABILITIES,
        other_names={"scikit-learn": "brier_score_loss(scale_by_half=False)"},
        notes="For two classes twice the familiar (p - y)^2; see brier_half.",
    ),
    MetricSpec(
        key="brier_half",
        scope=Scope.PROBABILISTIC,
        title="Brier score, halved",
        formula="brier_sum / 2",
        low=0,
        high=1,
        direction=Direction.LOWER,
        source=_BRIER,
        undefined_when=_NO_PROBABILITIES,
        other_names={"scikit-learn": "brier_score_loss(scale_by_half=True)"},
        notes="For two classes the mean of (p - y)^2 of the positive class.",
    ),
    _brier_part(
        "brier_reliability",
        "Brier reliability",
        "mean over cases of the squared distance between the forecast and what happened on "
        "average under it",
        Direction.LOWER,
        "0 for a calibrated forecast.",
    ),
    _brier_part(
        "brier_resolution",
        "Brier resolution",
        "mean over cases of the squared distance between what happened under their forecast and "
        "what happened overall",
        Direction.HIGHER,
        "Equals the uncertainty as soon as no forecast occurs twice, and then says nothing.",
    ),
    _brier_part(
        "brier_uncertainty",
        "Brier uncertainty",
        "sum over classes of share times (1 - share)",
        Direction.NEITHER,
        "A property of the data: the score of always forecasting the class shares.",
    ),
    _calibration(
        f"ece_positive_{DEFAULT_BINS}",
        f"Expected calibration error of the positive class, {DEFAULT_BINS} bins",
        "probability of the positive class",
        "Bins of equal width, closed below.",
        _NAEINI,
    ),
    MetricSpec(
        key=f"mce_positive_{DEFAULT_BINS}",
        scope=Scope.PROBABILISTIC,
        title=f"Maximum calibration error of the positive class, {DEFAULT_BINS} bins",
        formula="max over non-empty bins of |mean probability of the positive class - share of "
        "positive cases|",
        low=0,
        high=1,
        direction=Direction.LOWER,
        source=_NAEINI,
        undefined_when=_NO_PROBABILITIES,
        ignores=("how many cases a bin holds",),
        other_names={"torchmetrics": "calibration_error(norm='max') with other bins"},
        notes="One case alone in a bin can decide it.",
    ),
    _calibration(
        f"ece_positive_equal_mass_{DEFAULT_BINS}",
        f"Expected calibration error of the positive class, {DEFAULT_BINS} bins of equal mass",
        "probability of the positive class",
        "Bins of about equally many cases; equal scores share a bin.",
        _NGUYEN,
    ),
    _calibration(
        f"ece_top_label_{DEFAULT_BINS}",
        f"Expected calibration error of the top label, {DEFAULT_BINS} bins",
        "largest probability of a case",
        "Bins of equal width, closed below.",
        _GUO,
    ),
    _calibration(
        f"ece_top_label_equal_mass_{DEFAULT_BINS}",
        f"Expected calibration error of the top label, {DEFAULT_BINS} bins of equal mass",
        "largest probability of a case",
        "Bins of about equally many cases; equal scores share a bin.",
        _NGUYEN,
    ),
    *(_top_k(k) for k in range(1, LARGEST_K + 1)),
)
