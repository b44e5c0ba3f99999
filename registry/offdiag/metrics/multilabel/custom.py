"""Declared functions of the two-by-two tables of all labels of a multi-label evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.custom.declared import MultilabelInput, custom_metrics
from offdiag.metrics.custom.values import INTERVAL, value_of_samples
from offdiag.metrics.multilabel.tally import LabelCounts, count_labels
from offdiag.metrics.spec import MetricSpec, Scope

_METRICS = custom_metrics("multilabel")
SPECS: tuple[MetricSpec, ...] = tuple(
    MetricSpec(scope=Scope.MULTILABEL, interval=INTERVAL, **each.facts) for each in _METRICS
)


def custom_values(
    actual: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    names: tuple[str, ...],
    *,
    seed: int,
    confidence: float = 0.95,
) -> dict[str, MetricValue]:
    """Each declared metric of two (n, q) indicator arrays by key, with its interval."""

    def given(places: slice | NDArray[Any]) -> MultilabelInput:
        return label_tables(count_labels(actual[places], predicted[places]), names)

    return {
        each.key: value_of_samples(
            each, given, n_samples=len(actual), seed=seed, confidence=confidence
        )
        for each in _METRICS
    }


def custom_value(key: str, counts: LabelCounts, names: tuple[str, ...]) -> MetricValue | None:
    """A declared metric of counts alone, without an interval; None for a key of no such metric."""
    for each in _METRICS:
        if each.key == key:
            value, reason = each.called(label_tables(counts, names))
            return MetricValue(value) if reason is None else MetricValue(None, reason.value)
    return None


def label_tables(counts: LabelCounts, names: tuple[str, ...]) -> MultilabelInput:
    """What a declared function is given."""
    hits, actual, predicted = counts.true_positives, counts.actual, counts.predicted
    return MultilabelInput(
        true_positives=hits,
        false_negatives=actual - hits,
        false_positives=predicted - hits,
        true_negatives=counts.n_samples - actual - predicted + hits,
        labels=names,
    )
