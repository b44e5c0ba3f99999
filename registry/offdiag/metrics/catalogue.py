"""The catalogue: what each metric key means, what it ignores and how it can be misread.

Entries stand beside the formulas; they are collected here. A key has one entry in each scope it
exists in: the macro F1 of a single-label matrix and that of a multi-label evaluation are
different metrics under one name. Pages and the printed documentation take their words from here.
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
    "CHANGES_SIGN",
    "DIRECTION_WORDS",
    "LETTERS",
    "SCOPE_TITLES",
    "SPECS",
    "TRANSFORMATION_WORDS",
    "Direction",
    "MetricSpec",
    "Scope",
    "Symmetry",
    "Transformation",
    "effect_words",
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
TRANSFORMATION_WORDS: Mapping[Transformation, str] = MappingProxyType(
    {
        Transformation.RELAYOUT: "table laid out the other way, orientation stated",
        Transformation.ROLE_SWAP: ("actual and predicted swapped (an unstated transposition)"),
        Transformation.LABEL_PERMUTATION: "classes listed in another order",
        Transformation.CLASS_INVERSION: "two classes: positive and negative trade names",
        Transformation.SCORING_INVERSION: "two classes: every prediction inverted",
        Transformation.FULL_INVERSION: "two classes: both inversions",
    }
)
CHANGES_SIGN = frozenset({Transformation.SCORING_INVERSION, Transformation.FULL_INVERSION})
"""What turns good into bad, and so at best changes the sign of a metric."""

LETTERS: Mapping[str, str] = MappingProxyType(
    {
        "T": "role_swap",
        "L": "class_inversion",
        "S": "scoring_inversion",
        "F": "full_inversion",
        "P": "prevalence_independent",
    }
)
"""Letters for the symmetries of a metric, by the field that says whether it has them."""


def range_words(spec: MetricSpec) -> str:
    """ "0 to 1", "1 and more", "any number"."""
    if math.isinf(spec.high) and math.isinf(spec.low):
        return "any number"
    if math.isinf(spec.high):
        return f"{spec.low:g} and more"
    return f"{spec.low:g} to {spec.high:g}"


def symmetry_letters(symmetry: Symmetry | None) -> str:
    """The letters of the symmetries a metric has, separated by spaces."""
    if symmetry is None:
        return ""
    return " ".join(letter for letter, name in LETTERS.items() if getattr(symmetry, name))


def effect_words(symmetry: Symmetry, transformation: Transformation) -> tuple[str, str | None]:
    """What a transformation does to the value, and the metric that it becomes, if any.

    The words end before the name of that metric: ("becomes", "precision").
    """
    changes_sign = transformation in CHANGES_SIGN
    if getattr(symmetry, transformation.value):
        return "changes its sign on a centred scale" if changes_sign else "unchanged", None
    partner = symmetry.becomes.get(transformation)
    if partner is None:
        return "changes", None
    return "becomes the opposite of" if changes_sign else "becomes", partner
