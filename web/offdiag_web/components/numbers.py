"""How numbers are written, everywhere: counts, shares, measured values and amounts of cost.

Rounding never turns something into nothing or nearly all into all: a share above 0 is not
"0 %", a metric below 1 is not "1.000". CSV and JSON carry the full precision instead.

Amounts that are next to each other have the same number of decimals, as many as tell them apart.
The browser writes them too, while a user types. Both round halves away from zero, on the exact
value of the number, so that they never differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from offdiag.domain import number_text, texts
from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.catalogue import CATALOGUE
from offdiag.metrics.spec import Scope
from offdiag_web.charts.svg import Extent

shortened = texts.shortened
MINUS = "\N{MINUS SIGN}"
_NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
_EN_DASH = "\N{EN DASH}"


def count(number: int) -> str:
    """1503 -> "1,503"."""
    return f"{number:,}".replace("-", MINUS)


def signed(difference: int) -> str:
    """A difference of counts: "+3", "−1,204", "0"."""
    return f"+{count(difference)}" if difference > 0 else count(difference)


def plural(number: int, one: str, many: str | None = None) -> str:
    """ "1 run", "12 runs"."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def metric(value: float) -> str:
    """A metric with three decimals: "0.864", "<0.001", ">0.999", with a true minus sign.

    Ratios may grow without bound: from a million on they are written "1.23e+09".
    """
    return number_text.number(value, decimals_from_100=3)


def interval(low: float, high: float) -> str:
    """ "0.846 – 0.881"; "−0.114 to 0.105", where a dash would be read as another minus."""
    return f"{metric(low)} {'to' if low < 0 else _EN_DASH} {metric(high)}"


def whole_percent(part: int, of: int) -> str:
    """Share of a count as a whole percentage, `of` > 0: "35 %", "<1 %", ">99 %"."""
    if 0 < 100 * part < of:
        return f"<1{_NARROW_SPACE}%"
    if 99 * of < 100 * part < 100 * of:
        return f">99{_NARROW_SPACE}%"
    return f"{round(100 * part / of)}{_NARROW_SPACE}%"


def fine_percent(part: int, of: int) -> str:
    """Share of a count with one decimal, `of` > 0: "66.9 %", "<0.1 %", ">99.9 %"."""
    if 0 < 1000 * part < of:
        return f"<0.1{_NARROW_SPACE}%"
    if 999 * of < 1000 * part < 1000 * of:
        return f">99.9{_NARROW_SPACE}%"
    return f"{100 * part / of:.1f}{_NARROW_SPACE}%"


def hits_of(hits: int, cases: int) -> str:
    """ "96/168", the exact form of a recall."""
    return f"{count(hits)}/{count(cases)}"


def labelled(n_labelled: int, n_samples: int) -> str:
    """ "all 540", or "300 of 540 (55.6 %)" where some labels are still to come."""
    if n_labelled == n_samples:
        return f"all {count(n_samples)}"
    share = fine_percent(n_labelled, max(n_samples, 1))
    return f"{count(n_labelled)} of {count(n_samples)} ({share})"


def listed(words: Sequence[str], *, at_most: int = 5) -> str:
    """ "a", "a and b", "a, b and c", "a, b and 4 more"; nothing is hidden to hide one word."""
    shown = list(words if len(words) == at_most + 1 else words[:at_most])
    hidden = len(words) - len(shown)
    if hidden:
        return f"{', '.join(shown)} and {count(hidden)} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def cut_in_the_middle(text: str, *, longest: int = 26) -> str:
    """A text of at most so many characters: what tells names apart is often at their end."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail].rstrip()}\N{HORIZONTAL ELLIPSIS}{text[-tail:].lstrip()}"


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
    Reason.DIFFERENCE_OTHER_LABELS: "the runs were evaluated on different labels",
    Reason.SCORES_NOT_WEIGHTED: "not evaluated for the scores of weighted examples",
    Reason.TRIVIAL_COST_NOT_POSITIVE: "the best constant prediction costs nothing",
    Reason.TRIVIAL_COST_IS_PERFECT: "the best constant prediction is already perfect",
    Reason.NO_DISCORDANT_PAIRS: "the runs never disagree",
    Reason.ZERO_VARIANCE: "the variance is zero",
    Reason.TOO_FEW_CLASSES: "there are too few classes with examples",
    Reason.TOO_FEW_GROUPS: "there are too few groups with enough examples",
    Reason.GROUP_VALUE_UNDEFINED: "it is undefined for at least one group",
    Reason.FORECASTS_IN_CELLS: "scores were counted in bins, which do not show each forecast",
    Reason.CUSTOM_METRIC_FAILED: "its function failed, or gave no number within its bounds",
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
    **{key: spec.title for key, spec in CATALOGUE[Scope.PER_CLASS].items()},
    "tp": "TP",
    "fn": "FN",
    "fp": "FP",
    "tn": "TN",
    "predicted": "Predicted",
    "npv": "NPV",
    "fpr": "FPR",
    "fnr": "FNR",
    "fdr": "FDR",
    "for": "FOR",
    "f1": "F1",
    "f0_5": "F0.5",
    "f2": "F2",
    "jaccard": "Jaccard",
    "gmean": "G-mean",
    "fowlkes_mallows": "Fowlkes–Mallows",
    "lr_plus": "LR+",
    "lr_minus": "LR−",
    "roc_auc": "ROC AUC",
    "average_precision": "Average precision",
}
"""What the values of one class are called where a column or a line shows them: often shorter."""


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
    return ShownValue(metric(value.value))


def known(value: MetricValue | None) -> str:
    """A metric with three decimals, empty where it is undefined or was not computed."""
    return "" if value is None or value.value is None else metric(value.value)


def shown_count(value: MetricValue, notes: Notes) -> ShownValue:
    """A whole number that is kept as a metric, such as a support."""
    if value.value is None:
        return shown(value, notes)
    return ShownValue(count(round(value.value)))


def extent_of(value: MetricValue | None, *, times: float = 1.0) -> Extent | None:
    """What a mark of this value, or of so many times it, covers; None where it is undefined."""
    if value is None or value.value is None:
        return None
    low, high = (None if end is None else end * times for end in (value.ci_low, value.ci_high))
    return Extent(value.value * times, low, high)


def interval_text(value: MetricValue) -> str | None:
    """ "0.846 – 0.881", None where there is no interval."""
    if value.ci_low is None or value.ci_high is None:
        return None
    return interval(value.ci_low, value.ci_high)


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
