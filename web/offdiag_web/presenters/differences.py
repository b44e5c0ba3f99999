"""From one value to another, with the sign and the unit in which people tell it."""

from __future__ import annotations

from offdiag.domain.values import MetricValue
from offdiag.reports.scope import spec_of
from offdiag.reports.wording import difference

METRIC_TITLES = {
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "MCC",
    "macro_f1": "Macro F1",
    "overall_accuracy": "Accuracy",
}
"""The aggregates that are followed through time, the first one ranks."""


def title_inside(metric: str) -> str:
    """The title of a metric within a sentence."""
    title = METRIC_TITLES[metric]
    return title if title.isupper() else f"{title[0].lower()}{title[1:]}"


def difference_text(metric: str, before: MetricValue, after: MetricValue) -> str | None:
    """ "+0.4 pp" or, for what is no share, "+0.012"; None where either is undefined."""
    if before.value is None or after.value is None:
        return None
    return difference(after.value - before.value, spec_of(metric, of_class=False))
