"""Values of single classes of one run, each with its own interval."""

from __future__ import annotations

from collections.abc import Mapping

from offdiag.comparison.differences import OF_CLASSES
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.proportions import Outcomes, proportion_intervals
from offdiag.metrics.suite import evaluate_stack

_PROPORTIONS = {key: proportions.PER_CLASS[key] for key in OF_CLASSES}


def class_values(
    matrix: ConfusionMatrix, *, confidence: float = 0.95
) -> Mapping[str, tuple[MetricValue, ...]]:
    """Recall, precision and F1 by key, each in label order, with Wilson's intervals."""
    suite = evaluate_stack(matrix.counts, ordinal=matrix.labels.has_declared_order)
    found = proportion_intervals(Outcomes.of_matrix(matrix), _PROPORTIONS, confidence=confidence)
    return {
        key: tuple(
            found[key].at(code).around(suite.per_class[key].at(code))
            for code in range(matrix.n_classes)
        )
        for key in OF_CLASSES
    }
