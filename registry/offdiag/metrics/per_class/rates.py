"""Per class: shares of one row or one column of the one-against-rest table."""

from __future__ import annotations

from offdiag.metrics.per_class.one_vs_rest import ClassMetric
from offdiag.metrics.quantity import fraction
from offdiag.metrics.spec import (
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    LECTURE,
    LUQUE,
    NO_NEGATIVES,
    NO_POSITIVES,
    NO_PREDICTED_NEGATIVES,
    NO_PREDICTED_POSITIVES,
    POWERS,
    TRUE_NEGATIVES,
    TRUE_POSITIVES,
    WILSON,
    ZENG,
    Direction,
    Symmetry,
    Transformation,
)

_ROLES = Transformation.ROLE_SWAP

_CLASSES = Transformation.CLASS_INVERSION

_SCORING = Transformation.SCORING_INVERSION

_FULL = Transformation.FULL_INVERSION


def _of_actual_samples(*, roles: str, classes: str) -> Symmetry:
    """A share of the samples of one actual class: other classes' sizes do not matter."""
    return Symmetry(
        scoring_inversion=True,
        prevalence_independent=True,
        becomes={_ROLES: roles, _CLASSES: classes, _FULL: classes},
    )


def _of_predictions(*, roles: str, classes: str) -> Symmetry:
    """A share of the answers that name one class, or that do not."""
    return Symmetry(
        full_inversion=True, becomes={_ROLES: roles, _CLASSES: classes, _SCORING: classes}
    )


SPECS: tuple[ClassMetric, ...] = (
    ClassMetric(
        key="recall",
        compute=lambda c: fraction(c.tp, c.positives, c.no_positives),
        slopes=lambda s: s.recall,
        interval=WILSON,
        namesakes=("fnr", "accuracy_ovr"),
        title="Recall",
        symbol="R",
        formula="TP / (TP + FN)",
        source=f"{ZENG}, item 7; {LUQUE} (SNS); {LECTURE}, section 12.3.3",
        undefined_when=NO_POSITIVES,
        ignores=(FALSE_POSITIVES, TRUE_NEGATIVES),
        other_names={
            "scikit-learn": "recall_score",
            "PyCM": "TPR",
            "torchmetrics": "recall",
            "TFMA": "Recall",
            "caret": "Sensitivity, Recall",
        },
        notes="Also sensitivity, true positive rate, hit rate. Naming the class always gives 1.",
        symmetry=_of_actual_samples(roles="precision", classes="specificity"),
    ),
    ClassMetric(
        key="specificity",
        compute=lambda c: fraction(c.tn, c.negatives, c.no_negatives),
        slopes=lambda s: s.specificity,
        interval=WILSON,
        namesakes=("fpr", "npv"),
        title="Specificity",
        formula="TN / (TN + FP)",
        source=f"{LUQUE} (SPC); {LECTURE}, section 12.3.4",
        undefined_when=NO_NEGATIVES,
        ignores=(TRUE_POSITIVES, FALSE_NEGATIVES),
        other_names={
            "scikit-learn": "recall_score(pos_label=the other class)",
            "PyCM": "TNR",
            "torchmetrics": "specificity",
            "TFMA": "Specificity",
            "caret": "Specificity",
            "imbalanced-learn": "specificity_score",
        },
        notes="Also true negative rate, selectivity. Never naming the class gives 1.",
        symmetry=_of_actual_samples(roles="npv", classes="recall"),
    ),
    ClassMetric(
        key="precision",
        compute=lambda c: fraction(c.tp, c.predicted_positives, c.no_predicted_positives),
        slopes=lambda s: s.tp / s.predicted,
        interval=WILSON,
        namesakes=("fdr", "npv"),
        title="Precision",
        symbol="P",
        formula="TP / (TP + FP)",
        source=f"{ZENG}, item 6; {LUQUE} (PRC); {LECTURE}, section 12.3.2",
        undefined_when=NO_PREDICTED_POSITIVES,
        ignores=(FALSE_NEGATIVES, TRUE_NEGATIVES),
        other_names={
            "scikit-learn": "precision_score (0 where undefined)",
            "PyCM": "PPV",
            "torchmetrics": "precision (0 where undefined)",
            "TFMA": "Precision",
            "caret": "Precision, Pos Pred Value",
        },
        notes="Also positive predictive value. It falls with the prevalence even if the "
        "classifier stays the same.",
        symmetry=_of_predictions(roles="recall", classes="npv"),
    ),
    ClassMetric(
        key="npv",
        compute=lambda c: fraction(c.tn, c.predicted_negatives, c.no_predicted_negatives),
        slopes=lambda s: s.tn / s.not_predicted,
        interval=WILSON,
        title="Negative predictive value",
        symbol="NPV",
        formula="TN / (TN + FN)",
        source=f"{LUQUE} (NPV)",
        undefined_when=NO_PREDICTED_NEGATIVES,
        ignores=(TRUE_POSITIVES, FALSE_POSITIVES),
        other_names={
            "scikit-learn": "precision_score(pos_label=the other class)",
            "PyCM": "NPV",
            "torchmetrics": "negative_predictive_value",
            "TFMA": "NegativePredictiveValue",
            "caret": "Neg Pred Value",
        },
        symmetry=_of_predictions(roles="specificity", classes="precision"),
    ),
    ClassMetric(
        key="fpr",
        compute=lambda c: fraction(c.fp, c.negatives, c.no_negatives),
        slopes=lambda s: s.fpr,
        interval=WILSON,
        namesakes=("specificity", "fdr"),
        title="False positive rate",
        symbol="FPR",
        formula="FP / (FP + TN) = 1 - specificity",
        direction=Direction.LOWER,
        source=f"{LECTURE}, section 12.5.1",
        undefined_when=NO_NEGATIVES,
        ignores=(TRUE_POSITIVES, FALSE_NEGATIVES),
        other_names={"PyCM": "FPR", "TFMA": "FallOut"},
        notes="Also fall-out.",
        symmetry=_of_actual_samples(roles="for", classes="fnr"),
    ),
    ClassMetric(
        key="fnr",
        compute=lambda c: fraction(c.fn, c.positives, c.no_positives),
        slopes=lambda s: s.fn / s.positives,
        interval=WILSON,
        namesakes=("recall",),
        title="False negative rate",
        symbol="FNR",
        formula="FN / (FN + TP) = 1 - recall",
        direction=Direction.LOWER,
        source=POWERS,
        undefined_when=NO_POSITIVES,
        ignores=(FALSE_POSITIVES, TRUE_NEGATIVES),
        other_names={"PyCM": "FNR", "TFMA": "MissRate"},
        notes="Also miss rate.",
        symmetry=_of_actual_samples(roles="fdr", classes="fpr"),
    ),
    ClassMetric(
        key="fdr",
        compute=lambda c: fraction(c.fp, c.predicted_positives, c.no_predicted_positives),
        slopes=lambda s: s.fp / s.predicted,
        interval=WILSON,
        namesakes=("precision", "fpr"),
        title="False discovery rate",
        symbol="FDR",
        formula="FP / (FP + TP) = 1 - precision",
        direction=Direction.LOWER,
        source=POWERS,
        undefined_when=NO_PREDICTED_POSITIVES,
        ignores=(FALSE_NEGATIVES, TRUE_NEGATIVES),
        other_names={"PyCM": "FDR", "TFMA": "FalseDiscoveryRate"},
        symmetry=_of_predictions(roles="fnr", classes="for"),
    ),
    ClassMetric(
        key="for",
        compute=lambda c: fraction(c.fn, c.predicted_negatives, c.no_predicted_negatives),
        slopes=lambda s: s.fn / s.not_predicted,
        interval=WILSON,
        title="False omission rate",
        symbol="FOR",
        formula="FN / (FN + TN) = 1 - NPV",
        direction=Direction.LOWER,
        source=POWERS,
        undefined_when=NO_PREDICTED_NEGATIVES,
        ignores=(TRUE_POSITIVES, FALSE_POSITIVES),
        other_names={"PyCM": "FOR", "TFMA": "FalseOmissionRate"},
        symmetry=_of_predictions(roles="fpr", classes="fdr"),
    ),
)
