"""The catalogue: what each metric key means, what it does not depend on, and how it can be
misread.

Entries are defined next to the formulas and collected here. A key has one entry in each scope in
which it exists: the macro F1 of a single-label matrix and that of a multi-label evaluation are
different metrics with the same name. The dashboard and the documentation take their texts from
here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from offdiag.metrics import aggregates, per_class
from offdiag.metrics.costs import summary
from offdiag.metrics.custom import refuse_taken
from offdiag.metrics.multilabel import suite as sets
from offdiag.metrics.scores import suite as scores
from offdiag.metrics.spec import Direction, MetricSpec, Scope, Symmetry, Transformation

__all__ = [
    "CATALOGUE",
    "DIRECTION_WORDS",
    "SCOPE_TITLES",
    "SPECS",
    "Direction",
    "MetricSpec",
    "Scope",
    "Symmetry",
    "Transformation",
]

SPECS: tuple[MetricSpec, ...] = (
    *aggregates.SPECS,
    *per_class.SPECS,
    *sets.SPECS,
    *scores.SPECS,
    *summary.SPECS,
)
refuse_taken(SPECS)
CATALOGUE: Mapping[Scope, Mapping[str, MetricSpec]] = MappingProxyType(
    {
        scope: MappingProxyType({spec.key: spec for spec in SPECS if spec.scope is scope})
        for scope in Scope
    }
)

SCOPE_TITLES: Mapping[Scope, str] = MappingProxyType(
    {
        Scope.AGGREGATE: "Of a confusion matrix",
        Scope.PER_CLASS: "Of one class against the rest",
        Scope.MULTILABEL: "Of a multi-label evaluation",
        Scope.PER_LABEL: "Of one label of a multi-label evaluation",
        Scope.PROBABILISTIC: "Of predicted scores",
        Scope.COST: "Of a confusion matrix and a cost matrix",
    }
)
DIRECTION_WORDS: Mapping[Direction, str] = MappingProxyType(
    {
        Direction.HIGHER: "higher is better",
        Direction.LOWER: "lower is better",
        Direction.NEITHER: "neither high nor low is better",
    }
)


def range_words(spec: MetricSpec) -> str:
    """ "0 to 1", "1 and more", "any number"."""
    if math.isinf(spec.high) and math.isinf(spec.low):
        return "any number"
    if math.isinf(spec.high):
        return f"{spec.low:g} and more"
    return f"{spec.low:g} to {spec.high:g}"
