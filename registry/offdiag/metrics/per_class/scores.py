"""Per class: combinations of two rates into one number, in [0, 1] or [-1, 1]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from offdiag.domain.values import Reason
from offdiag.metrics.gradients import Dual, OutcomeShares
from offdiag.metrics.per_class.one_vs_rest import ClassMetric, OneVsRest
from offdiag.metrics.quantity import (
    Quantity,
    as_float,
    at_most_one,
    first_cause,
    fraction,
    renamed,
    within_one,
)
from offdiag.metrics.spec import (
    CLASS_ABSENT,
    LECTURE,
    LUQUE,
    NO_POSITIVES,
    NO_PREDICTED_POSITIVES,
    NO_SAMPLES,
    ONE_SIDED_ACTUAL,
    ONE_SIDED_PREDICTED,
    POWERS,
    SHARE_OF_CORRECT,
    TRUE_NEGATIVES,
    WILSON,
    WILSON_TRANSFORMED,
    ZENG,
    Symmetry,
    Transformation,
    with_all_inversions,
)


def f1(c: OneVsRest) -> Quantity:
    """2 TP / (2 TP + FN + FP): defined, and 0, where precision is 0/0 but samples exist."""
    return fraction(2 * c.tp, c.positives + c.predicted_positives, c.absent)


def f0_5(c: OneVsRest) -> Quantity:
    """(1 + 1/4) TP / ((1 + 1/4) TP + FN / 4 + FP), in whole numbers."""
    return fraction(5 * c.tp, c.positives + 4 * c.predicted_positives, c.absent)


def f2(c: OneVsRest) -> Quantity:
    """(1 + 4) TP / ((1 + 4) TP + 4 FN + FP)."""
    return fraction(5 * c.tp, 4 * c.positives + c.predicted_positives, c.absent)


def balanced_accuracy_ovr(c: OneVsRest) -> Quantity:
    twice = c.tp * c.negatives + c.tn * c.positives
    return fraction(twice, 2 * c.positives * c.negatives, c.one_sided_actual)


def markedness(c: OneVsRest) -> Quantity:
    both = c.predicted_positives * c.predicted_negatives
    return fraction(c.determinant, both, c.one_sided_predicted)


def gmean(c: OneVsRest) -> Quantity:
    square = fraction(c.tp * c.tn, c.positives * c.negatives, c.one_sided_actual)
    return square.map(np.sqrt)


def fowlkes_mallows(c: OneVsRest) -> Quantity:
    undefined = first_cause(c.no_positives, c.no_predicted_positives)
    product = as_float(c.positives * c.predicted_positives)
    return fraction(c.tp, np.sqrt(product), undefined).map(at_most_one)


def mcc_ovr(c: OneVsRest) -> Quantity:
    undefined = first_cause(
        c.no_samples,
        renamed(Reason.CONSTANT_ACTUAL, c.one_sided_actual),
        renamed(Reason.CONSTANT_PREDICTED, c.one_sided_predicted),
    )
    actual_spread = as_float(c.positives * c.negatives)
    predicted_spread = as_float(c.predicted_positives * c.predicted_negatives)
    return fraction(c.determinant, np.sqrt(actual_spread * predicted_spread), undefined).map(
        within_one
    )


def _f_beta_slopes(beta: float) -> Callable[[OutcomeShares], Dual]:
    square = beta * beta

    def formula(s: OutcomeShares) -> Dual:
        hits = (1 + square) * s.tp
        return hits / (hits + square * s.fn + s.fp)

    return formula


def _mcc_slopes(s: OutcomeShares) -> Dual:
    spread = (s.positives * s.negatives).sqrt() * (s.predicted * s.not_predicted).sqrt()
    return s.determinant / spread


_ROLES = Transformation.ROLE_SWAP

_RIJSBERGEN = "van Rijsbergen 1979, Information Retrieval, chapter 7"

SPECS: tuple[ClassMetric, ...] = (
    ClassMetric(
        key="f1",
        compute=f1,
        slopes=_f_beta_slopes(1.0),
        interval=WILSON_TRANSFORMED,
        namesakes=("jaccard", "f2", "f0_5", "fowlkes_mallows"),
        title="F1 score",
        symbol="F1",
        formula="2 TP / (2 TP + FN + FP)",
        source=f"{ZENG}, item 8 (with 2PR / (P + R)); {LUQUE} (F1); {LECTURE}, section 12.3.5",
        undefined_when=CLASS_ABSENT,
        ignores=(TRUE_NEGATIVES,),
        other_names={
            "scikit-learn": "f1_score",
            "PyCM": "F1",
            "torchmetrics": "f1_score",
            "TFMA": "F1Score",
            "caret": "F1",
        },
        notes="The harmonic mean of precision and recall, also called the Dice coefficient. A "
        "class that occurs but is never predicted has F1 = 0, although its precision is "
        "undefined.",
        symmetry=Symmetry(role_swap=True),
    ),
    ClassMetric(
        key="f0_5",
        compute=f0_5,
        slopes=_f_beta_slopes(0.5),
        title="F0.5 score",
        symbol="F0.5",
        formula="5 TP / (5 TP + FN + 4 FP)",
        source=_RIJSBERGEN,
        undefined_when=CLASS_ABSENT,
        ignores=(TRUE_NEGATIVES,),
        other_names={
            "scikit-learn": "fbeta_score(beta=0.5)",
            "PyCM": "F0.5",
            "torchmetrics": "fbeta_score",
        },
        notes="Precision weighs more than recall (beta = 1/2).",
        symmetry=Symmetry(becomes={_ROLES: "f2"}),
    ),
    ClassMetric(
        key="f2",
        compute=f2,
        slopes=_f_beta_slopes(2.0),
        title="F2 score",
        symbol="F2",
        formula="5 TP / (5 TP + 4 FN + FP)",
        source=_RIJSBERGEN,
        undefined_when=CLASS_ABSENT,
        ignores=(TRUE_NEGATIVES,),
        other_names={
            "scikit-learn": "fbeta_score(beta=2)",
            "PyCM": "F2",
            "torchmetrics": "fbeta_score",
        },
        notes="Recall weighs more than precision (beta = 2).",
        symmetry=Symmetry(becomes={_ROLES: "f0_5"}),
    ),
    ClassMetric(
        key="jaccard",
        compute=lambda c: fraction(c.tp, c.positives + c.fp, c.absent),
        slopes=lambda s: s.tp / (s.positives + s.fp),
        interval=WILSON,
        namesakes=("f1",),
        title="Jaccard index",
        formula="TP / (TP + FN + FP)",
        source="Jaccard 1912, New Phytologist 11(2), 37-50",
        undefined_when=CLASS_ABSENT,
        ignores=(TRUE_NEGATIVES,),
        other_names={
            "scikit-learn": "jaccard_score",
            "PyCM": "J (Youden's J is Y or BM there)",
            "torchmetrics": "jaccard_index",
            "TFMA": "ThreatScore",
        },
        notes="Also called critical success index, threat score or intersection over union. It "
        "ranks classifiers in the same order as F1: jaccard = F1 / (2 - F1).",
        symmetry=Symmetry(role_swap=True),
    ),
    ClassMetric(
        key="accuracy_ovr",
        compute=lambda c: fraction(c.tp + c.tn, c.total, c.no_samples),
        slopes=lambda s: s.tp + s.tn,
        interval=WILSON,
        title="Accuracy (one-vs-rest)",
        formula="(TP + TN) / N",
        source=f"{ZENG}, item 20; {LUQUE} (ACC); {LECTURE}, section 12.3.1",
        undefined_when=NO_SAMPLES,
        other_names={"PyCM": "ACC", "TFMA": "BinaryAccuracy", "torchmetrics": "binary_accuracy"},
        notes="High for every rare class, detected or not, because of the true negatives.",
        symmetry=SHARE_OF_CORRECT,
    ),
    ClassMetric(
        key="balanced_accuracy_ovr",
        compute=balanced_accuracy_ovr,
        slopes=lambda s: 0.5 * (s.recall + s.specificity),
        namesakes=("informedness", "gmean"),
        title="Balanced accuracy (one-vs-rest)",
        formula="(recall + specificity) / 2",
        source="Brodersen et al. 2010, ICPR, 3121-3124",
        undefined_when=ONE_SIDED_ACTUAL,
        other_names={
            "scikit-learn": "balanced_accuracy_score (of two classes)",
            "PyCM": "AUC",
            "TFMA": "BalancedAccuracy",
            "caret": "Balanced Accuracy",
        },
        notes="PyCM calls it AUC: it is the area under the two straight lines through a single "
        "point of the ROC curve, not the area under the curve of the scores. With two classes it "
        "is the balanced accuracy, whose interval combines the Wilson limits of both recalls; "
        "this one is drawn like those of all other metrics of a class against the rest.",
        symmetry=with_all_inversions(prevalence_independent=True),
    ),
    ClassMetric(
        key="informedness",
        compute=lambda c: fraction(c.determinant, c.positives * c.negatives, c.one_sided_actual),
        slopes=lambda s: s.recall - s.fpr,
        namesakes=("balanced_accuracy_ovr", "markedness"),
        title="Informedness",
        symbol="BM",
        formula="recall + specificity - 1 = (TP TN - FP FN) / (t (N - t))",
        low=-1,
        source=f"{LUQUE} (BM); {POWERS}; Youden 1950, Cancer 3(1), 32-35",
        undefined_when=ONE_SIDED_ACTUAL,
        other_names={
            "scikit-learn": "balanced_accuracy_score(adjusted=True) (of two classes)",
            "PyCM": "BM, Y",
            "TFMA": "Informedness",
        },
        notes="Also called Youden's J, true skill statistic or delta P'. 0 is chance.",
        symmetry=with_all_inversions(roles="markedness", prevalence_independent=True),
    ),
    ClassMetric(
        key="markedness",
        compute=markedness,
        slopes=lambda s: s.determinant / (s.predicted * s.not_predicted),
        namesakes=("informedness",),
        title="Markedness",
        symbol="MK",
        formula="precision + NPV - 1 = (TP TN - FP FN) / (p (N - p))",
        low=-1,
        source=f"{LUQUE} (MK); {POWERS}",
        undefined_when=ONE_SIDED_PREDICTED,
        other_names={"PyCM": "MK", "TFMA": "Markedness"},
        notes="Also called delta P. It is how much more often the class occurs if it is predicted "
        "than if it is not.",
        symmetry=with_all_inversions(roles="informedness"),
    ),
    ClassMetric(
        key="gmean",
        compute=gmean,
        slopes=lambda s: (s.recall * s.specificity).sqrt(),
        namesakes=("fowlkes_mallows", "balanced_accuracy_ovr"),
        title="Geometric mean of recall and specificity",
        symbol="GM",
        formula="sqrt(recall specificity)",
        source=f"{LUQUE} (GM); Kubat and Matwin 1997, ICML, 179-186",
        undefined_when=ONE_SIDED_ACTUAL,
        other_names={
            "PyCM": "GM (G is another metric)",
            "imbalanced-learn": "geometric_mean_score",
        },
        notes="0 if either recall or specificity is 0, so it penalises a failure on one side more "
        "than the arithmetic mean does.",
        symmetry=Symmetry(class_inversion=True, prevalence_independent=True),
    ),
    ClassMetric(
        key="fowlkes_mallows",
        compute=fowlkes_mallows,
        slopes=lambda s: s.tp / (s.positives * s.predicted).sqrt(),
        namesakes=("gmean",),
        title="Fowlkes-Mallows index",
        symbol="G",
        formula="sqrt(precision recall) = TP / sqrt(t p)",
        source="Fowlkes and Mallows 1983, JASA 78(383), 553-569",
        undefined_when=NO_POSITIVES | NO_PREDICTED_POSITIVES,
        ignores=(TRUE_NEGATIVES,),
        other_names={
            "PyCM": "G (GM is another metric)",
            "TFMA": "FowlkesMallowsIndex",
            "scikit-learn": "fowlkes_mallows_score is for clusterings",
        },
        symmetry=Symmetry(role_swap=True),
    ),
    ClassMetric(
        key="mcc_ovr",
        compute=mcc_ovr,
        slopes=_mcc_slopes,
        namesakes=("informedness", "markedness"),
        title="MCC (one-vs-rest)",
        symbol="MCC",
        formula="(TP TN - FP FN) / sqrt(t (N - t) p (N - p))",
        low=-1,
        source=f"{LUQUE} (MCC); Matthews 1975, BBA 405(2), 442-451",
        undefined_when=NO_SAMPLES
        | {
            Reason.CONSTANT_ACTUAL: "the class has no examples, or all of them",
            Reason.CONSTANT_PREDICTED: "the class is never or always predicted",
        },
        other_names={
            "scikit-learn": "matthews_corrcoef (of two classes; 0 where undefined)",
            "PyCM": "MCC",
            "torchmetrics": "matthews_corrcoef (up to 1 for a constant prediction)",
            "TFMA": "MatthewsCorrelationCoefficient",
        },
        notes="The phi coefficient. It has the sign of informedness, and its square is "
        "informedness times markedness. Its mean over classes is not the multi-class MCC.",
        symmetry=SHARE_OF_CORRECT,
    ),
)
