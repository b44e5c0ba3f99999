"""The computation itself: from inputs to every value, without reading or writing anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.domain.values import MetricValue
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.evaluation.inputs import EvaluationInputs


@dataclass(frozen=True)
class EvaluatedValues:
    """All aggregates by key, and K values in label order for each per-class key."""

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, tuple[MetricValue, ...]]


def evaluate(inputs: EvaluationInputs) -> EvaluatedValues:
    """Every metric of a run. The same inputs give the same bits."""
    matrix = inputs.matrix
    suite = evaluate_stack(matrix.counts, ordinal=matrix.labels.ordinal)
    return EvaluatedValues(
        {key: quantity.at() for key, quantity in suite.aggregate.items()},
        {
            key: tuple(quantity.at(code) for code in range(matrix.n_classes))
            for key, quantity in suite.per_class.items()
        },
    )
