"""Measured values as shown: a number, or the word "undefined" with a numbered note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from offdiag.domain.values import MetricValue
from offdiag_web.charts.scale import Extent
from offdiag_web.presenters import numbers
from offdiag_web.presenters.reasons import reason_text

UNDEFINED = "undefined"
CLASS_METRIC_TITLES: Mapping[str, str] = {
    "support": "Support",
    "predicted": "Predicted",
    "tp": "TP",
    "fn": "FN",
    "fp": "FP",
    "tn": "TN",
    "prevalence": "Prevalence",
    "predicted_rate": "Predicted rate",
    "recall": "Recall",
    "specificity": "Specificity",
    "precision": "Precision",
    "npv": "NPV",
    "fpr": "FPR",
    "fnr": "FNR",
    "fdr": "FDR",
    "for": "FOR",
    "f1": "F1",
    "f0_5": "F0.5",
    "f2": "F2",
    "jaccard": "Jaccard",
    "accuracy_ovr": "Accuracy, one vs rest",
    "balanced_accuracy_ovr": "Balanced accuracy, one vs rest",
    "informedness": "Informedness",
    "markedness": "Markedness",
    "gmean": "G-mean",
    "fowlkes_mallows": "Fowlkes–Mallows",
    "mcc_ovr": "MCC, one vs rest",
    "lr_plus": "LR+",
    "lr_minus": "LR−",
    "prevalence_threshold": "Prevalence threshold",
    "dor": "Diagnostic odds ratio",
    "lift": "Lift",
    "p4": "P4",
    "roc_auc": "ROC AUC",
    "average_precision": "Average precision",
}
"""What the values of one class are called where a column or a line shows them."""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """Text of a value; `note` is the number of the note that says why it is undefined."""

    text: str
    note: int | None = None


@dataclass
class Notes:
    """The reasons a page mentions, numbered in the order in which they first occur."""

    texts: list[str] = field(default_factory=list)

    def number_of(self, reason: str) -> int:
        """Number of the note for a stored reason, added when it is new."""
        text = reason_text(reason)
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1


def shown(value: MetricValue | None, notes: Notes) -> ShownValue:
    """A metric with three decimals, or why there is none."""
    if value is None:
        return ShownValue("not computed")
    if value.value is None:
        return ShownValue(UNDEFINED, notes.number_of(value.reason or "no_cases"))
    return ShownValue(numbers.metric(value.value))


def shown_count(value: MetricValue, notes: Notes) -> ShownValue:
    """A whole number that is kept as a metric, such as a support."""
    if value.value is None:
        return shown(value, notes)
    return ShownValue(numbers.count(round(value.value)))


def extent_of(value: MetricValue) -> Extent | None:
    """What a mark of this value covers, None where the value is undefined."""
    if value.value is None:
        return None
    return Extent(value.value, value.ci_low, value.ci_high)


def interval_text(value: MetricValue) -> str | None:
    """ "0.846 – 0.881", None where there is no interval."""
    if value.ci_low is None or value.ci_high is None:
        return None
    return numbers.interval(value.ci_low, value.ci_high)
