"""The catalogue: what each metric key means, what it ignores and how it can be misread.

A key has one entry in each scope it exists in: the macro F1 of a single-label matrix and that
of a multi-label evaluation are different metrics under one name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offdiag.metrics.catalogue import (
    class_counts,
    class_rates,
    class_ratios,
    class_scores,
    costs,
    matrix_accuracy,
    matrix_agreement,
    matrix_averages,
    multilabel,
    probabilistic,
)
from offdiag.metrics.spec import (
    Direction,
    MetricSpec,
    Scope,
    Symmetry,
    Transformation,
)

__all__ = [
    "CATALOGUE",
    "SPECS",
    "Direction",
    "MetricSpec",
    "Scope",
    "Symmetry",
    "Transformation",
]

SPECS: tuple[MetricSpec, ...] = (
    *matrix_accuracy.SPECS,
    *matrix_agreement.SPECS,
    *matrix_averages.SPECS,
    *class_counts.SPECS,
    *class_rates.SPECS,
    *class_scores.SPECS,
    *class_ratios.SPECS,
    *multilabel.SPECS,
    *probabilistic.SPECS,
    *costs.SPECS,
)
CATALOGUE: Mapping[Scope, Mapping[str, MetricSpec]] = MappingProxyType(
    {
        scope: MappingProxyType({spec.key: spec for spec in SPECS if spec.scope is scope})
        for scope in Scope
    }
)
