"""Values of metrics on pages: a number with its interval, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from offdiag.domain.values import MetricValue, reason_text
from offdiag.metrics.catalogue import CATALOGUE
from offdiag.metrics.spec import Scope
from offdiag_web.charts.svg import Extent
from offdiag_web.components import numbers

LOG_SCORES = """offdiag.log_run(
    y_true=…, y_pred=…,
    y_score=…,            # (n,) of the positive class, or (n, K) in label order
    positive_label=…,     # where there is one
)"""
"""Code that logs a run with scores, for pages that need them."""


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
"""Titles of metrics of one class for columns and lines, which are often shorter."""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """The text of a value; `note` is the number of the note that says why it is undefined."""

    text: str
    note: int | None = None


@dataclass
class Notes:
    """The reasons that a page mentions, numbered in the order in which they first occur."""

    texts: list[str] = field(default_factory=list)

    def number_of(self, reason: str) -> int:
        """The number of the note for a stored reason, added if it is new."""
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


def known(value: MetricValue | None) -> str:
    """A metric with three decimals, empty if it is undefined or was not computed."""
    return "" if value is None or value.value is None else numbers.metric(value.value)


def extent_of(value: MetricValue | None, *, times: float = 1.0) -> Extent | None:
    """What a mark of this value, or of `times` times it, covers; None if it is undefined."""
    if value is None or value.value is None:
        return None
    low, high = (None if end is None else end * times for end in (value.ci_low, value.ci_high))
    return Extent(value.value * times, low, high)


def interval_text(value: MetricValue) -> str | None:
    """ "0.846 – 0.881", None if there is no interval."""
    if value.ci_low is None or value.ci_high is None:
        return None
    return numbers.interval(value.ci_low, value.ci_high)


def with_interval(value: MetricValue | None) -> str:
    """ "0.864 (0.846 – 0.881)", the number alone if there is no interval; empty as `known`."""
    interval = None if value is None else interval_text(value)
    return f"{known(value)} ({interval})" if interval else known(value)


def interval_name(interval: str | None) -> str:
    """An interval in the name of a mark: "95 % interval 0.846 – 0.881", or "no interval"."""
    return f"95 % interval {interval}" if interval else "no interval"
