"""From one value to another, with the sign and the unit in which people tell it."""

from __future__ import annotations

from offdiag.domain.runs import Task
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
TITLES_OF_SETS = {
    "macro_f1": "Macro F1",
    "example_jaccard": "Jaccard",
    "subset_accuracy": "Subset accuracy",
    "hamming_loss": "Hamming loss",
}
"""The same where cases carry sets of labels."""


def titles_for(task: Task) -> dict[str, str]:
    """The titles of what is followed, by what the labels of a dataset mean."""
    return TITLES_OF_SETS if task is Task.MULTILABEL else METRIC_TITLES


def title_inside(metric: str) -> str:
    """The title of a metric within a sentence."""
    title = (METRIC_TITLES | TITLES_OF_SETS)[metric]
    return title if title.isupper() else f"{title[0].lower()}{title[1:]}"


def difference_text(metric: str, before: MetricValue, after: MetricValue) -> str | None:
    """ "+0.4 pp" or, for what is no share, "+0.012"; None where either is undefined."""
    if before.value is None or after.value is None:
        return None
    return difference(after.value - before.value, spec_of(metric, of_class=False))
