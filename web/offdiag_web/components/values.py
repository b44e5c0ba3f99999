"""Measured values as shown: a number, an amount of cost, or "undefined" and why.

Amounts that are next to each other have the same number of decimals, as many as tell them apart.
The browser writes them too, while somebody types. Both round halves away from zero, on the exact
value of the number, so that they never differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from offdiag.domain.values import MetricValue, Reason
from offdiag_web.charts.scale import Extent
from offdiag_web.components import numbers
from offdiag_web.components.numbers import MINUS

REASON_TEXTS: dict[Reason, str] = {
    Reason.NO_SAMPLES: "there are no examples",
    Reason.NO_ACTUAL_POSITIVES: "there is no example of this class",
    Reason.NO_ACTUAL_NEGATIVES: "all examples are of this class",
    Reason.NO_PREDICTED_POSITIVES: "this class was never predicted",
    Reason.NO_PREDICTED_NEGATIVES: "only this class was predicted",
    Reason.CLASS_ABSENT: "the class occurs neither in the ground truth nor in the predictions",
    Reason.CONSTANT_ACTUAL: "all examples are of one class",
    Reason.CONSTANT_PREDICTED: "one class was predicted for all examples",
    Reason.CONSTANT_MARGIN: "all examples are of one class, or one class was always predicted",
    Reason.SINGLE_ACTUAL_CLASS: "only one class has examples",
    Reason.SINGLE_CLASS_DECLARED: "only one class is declared",
    Reason.CHANCE_AGREEMENT_CERTAIN: "agreement by chance alone is certain",
    Reason.ORDER_NOT_DECLARED: "the classes have no declared order",
    Reason.CLASS_VALUE_UNDEFINED: "it is undefined for at least one class",
    Reason.COMPONENT_UNDEFINED: "one of the values it is computed from is undefined",
    Reason.ZERO_OVER_ZERO: "it is zero divided by zero",
    Reason.POSITIVE_OVER_ZERO: "a positive number is divided by zero; it tends to infinity",
    Reason.TRUE_CLASS_GOT_ZERO: "an actual class was given probability zero",
    Reason.SCORES_NOT_PROBABILITIES: "the scores are not probabilities",
    Reason.NO_SCORES: "no scores were logged",
    Reason.FRACTIONAL_WEIGHTS: "the examples have fractional weights",
    Reason.DIFFERENCE_NOT_WEIGHTED: "differences of weighted runs are not judged here",
    Reason.SCORES_NOT_WEIGHTED: "not evaluated for the scores of weighted examples",
    Reason.TRIVIAL_COST_NOT_POSITIVE: "the best constant prediction costs nothing",
    Reason.TRIVIAL_COST_IS_PERFECT: "the best constant prediction is already perfect",
    Reason.NO_DISCORDANT_PAIRS: "the runs never disagree",
    Reason.ZERO_VARIANCE: "the variance is zero",
    Reason.TOO_FEW_CLASSES: "there are too few classes with examples",
    Reason.TOO_FEW_GROUPS: "there are too few groups with enough examples",
    Reason.GROUP_VALUE_UNDEFINED: "it is undefined for at least one group",
    Reason.FORECASTS_IN_CELLS: "scores were counted in bins, which do not tell each forecast",
    Reason.CUSTOM_METRIC_FAILED: "its function raised an error or gave no finite number",
    Reason.CUSTOM_METRIC_UNDEFINED: "its function says so",
}

LOG_SCORES = """offdiag.log_run(
    y_true=…, y_pred=…,
    y_score=…,            # (n,) of the positive class, or (n, K) in label order
    positive_label=…,     # where there is one
)"""
"""What to write so that a run has scores, where a page needs them."""


def reason_text(reason: str) -> str:
    """The clause for a stored reason; one of a newer version is shown as its name."""
    try:
        return REASON_TEXTS[Reason(reason)]
    except ValueError:
        return reason.replace("_", " ")


UNDEFINED = "undefined"
CLASS_METRIC_TITLES: Mapping[str, str] = {
    "support": "Support",
    "predicted": "Predicted",
    "tp": "TP",
    "fn": "FN",
    "fp": "FP",
    "tn": "TN",
    "prevalence": "Prevalence",
    "imbalance_coefficient": "Imbalance coefficient",
    "predicted_rate": "Predicted prevalence",
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
    "accuracy_ovr": "Accuracy (one-vs-rest)",
    "balanced_accuracy_ovr": "Balanced accuracy (one-vs-rest)",
    "informedness": "Informedness",
    "markedness": "Markedness",
    "gmean": "G-mean",
    "fowlkes_mallows": "Fowlkes–Mallows",
    "mcc_ovr": "MCC (one-vs-rest)",
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


MOST_DECIMALS = 6
_DIGITS = 4
"""Digits of the largest amount of a table that are shown, decimals only as far as needed."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Writes amounts with one number of decimals, 0 to `MOST_DECIMALS`."""

    decimals: int

    def text(self, amount: float) -> str:
        """ "1,127", "−0.25"; what is not nothing is not "0" but "<0.01"."""
        step = Decimal(1).scaleb(-self.decimals)
        rounded = Decimal(amount).quantize(step, ROUND_HALF_UP) + 0
        if amount and not rounded:
            return f"<{step:f}" if amount > 0 else f">{MINUS}{step:f}"
        return f"{rounded:,f}".replace("-", MINUS)

    def signed(self, amount: float) -> str:
        """A difference: "+12", "−3", "0"."""
        text = self.text(amount)
        return f"+{text}" if amount > 0 and text[0] != "<" else text

    def interval(self, low: float, high: float) -> str:
        """ "1,103 – 1,149"."""
        return f"{self.text(low)} \N{EN DASH} {self.text(high)}"


def amounts_for(values: Iterable[float]) -> Amounts:
    """Decimals that show four digits of the largest of these amounts, none where there are."""
    largest = max((abs(value) for value in values), default=0.0)
    if largest == 0 or not math.isfinite(largest):
        return Amounts(0)
    digits_before = Decimal(largest).adjusted() + 1
    return Amounts(min(MOST_DECIMALS, max(0, _DIGITS - digits_before)))
