"""How metrics react to transformations of a confusion matrix and to class imbalance.

The transformations are those of Zeng (2025) for any number of classes and those of Luque et al.
(2019, Symmetry 11(1) 47) for two. The catalogue declares which ones leave a metric unchanged.

Luque et al. also draw a metric of two classes as a map over both rates: every binary classifier
is a point (specificity, recall), and the value at that point depends on the imbalance of the
classes. A metric whose map changes with the imbalance cannot be compared between datasets.

Luque, Carrasco, Martín and de las Heras (2019, Pattern Recognition 91, 216-231) ask how far
imbalance moves a metric from its value for balanced classes while the recalls are fixed, and
cluster metrics by it in a simulation. The groups here follow from the definitions instead, and are
not those clusters. With recall and specificity fixed, a metric either keeps its value at any
imbalance; or keeps it only if both are equal, like accuracy, their mean weighted by class size; or
changes even then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.catalogue import SPECS
from offdiag.metrics.custom import custom_versions
from offdiag.metrics.spec import MetricSpec, Scope, Transformation
from offdiag.metrics.suite import evaluate_stack

TRANSFORMATION_WORDS: Mapping[Transformation, str] = MappingProxyType(
    {
        Transformation.RELAYOUT: "axes of the table exchanged, orientation stated",
        Transformation.ROLE_SWAP: "actual and predicted swapped (an unstated transposition)",
        Transformation.LABEL_PERMUTATION: "classes listed in another order",
        Transformation.CLASS_INVERSION: "two classes: positive and negative swapped",
        Transformation.SCORING_INVERSION: "two classes: every prediction inverted",
        Transformation.FULL_INVERSION: "two classes: both inversions",
    }
)
CHANGES_SIGN = frozenset({Transformation.SCORING_INVERSION, Transformation.FULL_INVERSION})
"""Transformations that turn good into bad, so at best a metric changes its sign."""

LETTERS: Mapping[str, str] = MappingProxyType(
    {
        "T": "role_swap",
        "L": "class_inversion",
        "S": "scoring_inversion",
        "F": "full_inversion",
        "P": "prevalence_independent",
    }
)
"""Letters for the symmetries of a metric, by the field that says whether it has each."""

Counts = NDArray[Any]


def unit_matrices(
    recall: NDArray[np.float64], specificity: NDArray[np.float64], imbalance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Matrices of shares from two rates and the imbalance (Luque et al., equation 9).

    `imbalance` is 2 t/N - 1 of the positive class, from -1 to 1. The result has shape
    (..., 2, 2), the positive class first; each matrix adds up to 1.
    """
    positive, negative = (1 + imbalance) / 2, (1 - imbalance) / 2
    cells = np.broadcast_arrays(
        recall * positive,
        (1 - recall) * positive,
        (1 - specificity) * negative,
        specificity * negative,
    )
    return np.stack(cells, axis=_CELL_AXIS).reshape(*cells[0].shape, 2, 2)


_CELL_AXIS = -1


_POSITIVE = 0
_MAPPED_SCOPES = (Scope.AGGREGATE, Scope.PER_CLASS)
_COUNTS = frozenset(
    {"tp", "fn", "fp", "tn", "support", "predicted", "n"}
    | {"n_classes", "n_classes_actual", "n_classes_predicted", "nir_p_value"}
)
"""Metrics that depend on the number of samples, so on more than two rates and a share."""


@dataclass(frozen=True, slots=True)
class RateMap:
    """Values of a metric on a grid of both rates.

    `recalls` and `specificities` (steps,) are the grid, ascending; `values` (steps, steps) has
    the recall along its first axis, and NaN where the metric is undefined.
    """

    recalls: NDArray[np.float64]
    specificities: NDArray[np.float64]
    values: NDArray[np.float64]


def has_map(spec: MetricSpec) -> bool:
    """Whether the metric depends only on two rates and the imbalance.

    A declared metric has no map, because it may refer to particular classes.
    """
    is_custom = spec.key in custom_versions()
    return spec.scope in _MAPPED_SCOPES and spec.key not in _COUNTS and not is_custom


def rate_map(spec: MetricSpec, *, positive_share: float, steps: int) -> RateMap:
    """The metric at the centres of `steps` x `steps` cells of the unit square.

    `positive_share` is the share of positive samples, between 0 and 1 (exclusive). A metric of one
    class is that of the positive class.
    """
    places = (np.arange(steps) + 0.5) / steps
    recalls, specificities = np.meshgrid(places, places, indexing="ij")
    return RateMap(places, places, value_at(spec, recalls, specificities, positive_share))


def value_at(
    spec: MetricSpec,
    recalls: NDArray[np.float64],
    specificities: NDArray[np.float64],
    positive_share: float,
) -> NDArray[np.float64]:
    """The metric for arrays of rates of equal shape, NaN where it is undefined."""
    imbalance = np.full(np.shape(recalls), 2 * positive_share - 1)
    suite = evaluate_stack(unit_matrices(recalls, specificities, imbalance), ordinal=True)
    if spec.scope is Scope.AGGREGATE:
        values = suite.aggregate[spec.key].value
    else:
        values = suite.per_class[spec.key].value[..., _POSITIVE]
    # What is 0 or 1 exactly is not an inequality because of the rounding of floats.
    return np.round(values, _DECIMALS)


def height(spec: MetricSpec, value: float) -> float:
    """The position of a value in the range of its metric, 0 to 1.

    Ratios have no upper end: their value 1, where both sides are equal, is in the middle.
    """
    if math.isinf(spec.high):
        return 1.0 if math.isinf(value) else value / (1 + value)
    return min(1.0, max(0.0, (value - spec.low) / (spec.high - spec.low)))


BALANCED, SHARES = 0.5, (0.05, 0.95)
"""Shares of the positive class: imbalance coefficients of 0, and of -0.9 and 0.9."""
_STEPS = 20
_ROUNDING = 1e-9
_DECIMALS = 12

Floats = NDArray[np.float64]


class ImbalanceGroup(StrEnum):
    """When the imbalance of two classes changes a metric, with both recalls fixed."""

    INDEPENDENT = "independent"
    EQUAL_RECALLS = "equal recalls"
    DEPENDENT = "dependent"


GROUP_WORDS: Mapping[ImbalanceGroup, str] = {
    ImbalanceGroup.INDEPENDENT: "does not depend on the imbalance of the classes",
    ImbalanceGroup.EQUAL_RECALLS: "changes with the imbalance of the classes, unless recall and "
    "specificity are equal",
    ImbalanceGroup.DEPENDENT: "changes with the imbalance of the classes, even if recall and "
    "specificity are equal",
}


@dataclass(frozen=True, slots=True)
class ImbalanceEffect:
    """The group of a metric, and how far 5 % or 95 % of positive samples move it from 50 %.

    `mean` and `largest` are over an even grid of both recalls, with the range of the metric scaled
    to 0 to 1 (a ratio x as x / (1 + x)).
    """

    group: ImbalanceGroup
    mean: float
    largest: float


def imbalance_effect(spec: MetricSpec) -> ImbalanceEffect | None:
    """The effect of imbalance on a metric, None if it depends on more than recalls and shares."""
    return _effect(spec.scope, spec.key) if has_map(spec) else None


@cache
def _effect(scope: Scope, key: str) -> ImbalanceEffect:
    spec = next(each for each in SPECS if (each.scope, each.key) == (scope, key))
    balanced, *others = (_heights(spec, share) for share in (BALANCED, *SHARES))
    moved = np.abs(np.stack(others) - balanced)
    if not (np.nan_to_num(moved) > _ROUNDING).any():
        return ImbalanceEffect(ImbalanceGroup.INDEPENDENT, 0.0, 0.0)
    where_equal = np.nan_to_num(moved[:, range(_STEPS), range(_STEPS)])
    is_steady = not (where_equal > _ROUNDING).any()
    group = ImbalanceGroup.EQUAL_RECALLS if is_steady else ImbalanceGroup.DEPENDENT
    return ImbalanceEffect(group, float(np.nanmean(moved)), float(np.nanmax(moved)))


def _heights(spec: MetricSpec, share: float) -> Floats:
    values = rate_map(spec, positive_share=share, steps=_STEPS).values
    heights = [np.nan if np.isnan(value) else height(spec, value) for value in values.ravel()]
    return np.array(heights).reshape(values.shape)


def effect_words(spec: MetricSpec, transformation: Transformation) -> tuple[str, str | None]:
    """How a transformation changes a metric that has symmetries, and which metric it becomes.

    The words end before the name of that metric, which may be None: ("becomes", "precision").
    """
    symmetry = spec.symmetry
    assert symmetry is not None  # noqa: S101  # Callers leave out metrics without symmetries.
    changes_sign = transformation in CHANGES_SIGN
    if getattr(symmetry, transformation.value):
        return _mirrored(spec) if changes_sign else "unchanged", None
    partner = symmetry.becomes.get(transformation)
    if partner is None:
        return "changes", None
    # Only proportions become another metric when good turns into bad.
    return "becomes 1 minus" if changes_sign else "becomes", partner


def _mirrored(spec: MetricSpec) -> str:
    """What happens to a value whose range is turned round."""
    if math.isinf(spec.high):
        return "becomes its reciprocal"
    return "changes its sign" if spec.low < 0 else "becomes 1 minus the value"
