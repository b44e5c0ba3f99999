"""Metrics, differences and probabilities as the sentences of a comparison say them."""

from __future__ import annotations

from offdiag.comparison.differences import MetricDifference
from offdiag.domain.values import MetricValue
from offdiag.reports import wording
from offdiag.reports.scope import spec_of

TITLES = {
    "overall_accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "MCC",
    "macro_f1": "Macro F1",
    "cohen_kappa": "Cohen's kappa",
    "roc_auc": "ROC AUC",
    "roc_auc_ovr_macro": "ROC AUC, one vs rest",
    "log_loss": "Log loss",
    "brier_sum": "Brier score",
    "recall": "Recall",
    "precision": "Precision",
    "f1": "F1",
}
_KEEP_THEIR_CAPITAL = frozenset({"mcc", "cohen_kappa", "roc_auc", "roc_auc_ovr_macro", "f1"})
_SURNAMES = frozenset({"brier_sum"})


def title(key: str) -> str:
    """ "Balanced accuracy"."""
    return TITLES[key]


def title_inside(key: str) -> str:
    """The title within a sentence."""
    text = TITLES[key]
    if key in _KEEP_THEIR_CAPITAL | _SURNAMES:
        return text
    return f"{text[0].lower()}{text[1:]}"


def gap_text(key: str, gap: MetricValue, *, of_class: bool = False) -> str:
    """ "−15.0 pp", or "undefined"."""
    if gap.value is None:
        return "undefined"
    return wording.difference(gap.value, spec_of(key, of_class=of_class))


def gap_interval(key: str, gap: MetricValue, *, of_class: bool = False) -> str | None:
    """ "−20.2 to −10.0", in the unit of `gap_text`; None where there is no interval."""
    if gap.ci_low is None or gap.ci_high is None:
        return None
    spec = spec_of(key, of_class=of_class)
    low, high = (wording.difference(end, spec) for end in (gap.ci_low, gap.ci_high))
    return f"{low} to {high}".replace(" pp", "")


def p_text(p: float) -> str:
    """ "p = 0.82", "p < 0.001"; never 0, and never 1 for less."""
    if p < 0.001:
        return "p < 0.001"
    text = f"{p:.2f}" if p >= 0.1 else f"{p:.3f}"
    return "p > 0.99" if p < 1 and text == "1.00" else f"p = {text}"


def level_text(confidence: float) -> str:
    """ "95 %"."""
    return f"{100 * confidence:g} %"


def difference_sentence(found: MetricDifference, confidence: float | None = None) -> str:
    """ "accuracy +0.3 pp (95 % CI −1.7 to +2.7)"; the level is named where it is given."""
    said = f"{title_inside(found.key)} {gap_text(found.key, found.difference)}"
    ends = gap_interval(found.key, found.difference)
    if ends is None:
        return said
    level = "" if confidence is None else f"{level_text(confidence)} CI "
    test = "" if found.p is None else f"; exact McNemar {p_text(found.p)}"
    return f"{said} ({level}{ends}{test})"
