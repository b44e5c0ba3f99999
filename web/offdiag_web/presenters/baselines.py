"""What always answering with the largest class would score on the same cases."""

from __future__ import annotations

from collections.abc import Mapping

from offdiag.domain.values import MetricValue

METRIC_OF_BASELINE = "majority_baseline"


def majority_scores(aggregate: Mapping[str, MetricValue]) -> dict[str, float]:
    """Scores of the constant answer by metric key, from the share of the largest class.

    It finds that class always and no other: balanced accuracy is one over the number of classes
    with cases, macro F1 that share of the one class F1, 2J/(1+J). MCC is undefined for it.
    """
    share = _defined(aggregate, METRIC_OF_BASELINE)
    n_classes = _defined(aggregate, "n_classes_actual")
    if share is None or not n_classes:
        return {}
    return {
        "overall_accuracy": share,
        "balanced_accuracy": 1 / n_classes,
        "macro_f1": 2 * share / (1 + share) / n_classes,
    }


def _defined(aggregate: Mapping[str, MetricValue], key: str) -> float | None:
    value = aggregate.get(key)
    return None if value is None else value.value
