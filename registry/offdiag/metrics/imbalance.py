"""Groups of metrics by what the imbalance of two classes does to them, recalls being fixed.

Luque, Carrasco, Martín and de las Heras (2019, Pattern Recognition 91, 216-231) simulate both
recalls and ask how far a metric at some imbalance is from that of balanced classes, and name
clusters of metrics by it: the geometric mean and the informedness have no such bias. The groups
here follow from the definitions instead, and are not those clusters. With recall and specificity
fixed, a metric keeps its value at any imbalance; or it does where both are equal, as accuracy,
their mean weighted by the classes; or it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.catalogue import SPECS, MetricSpec, Scope
from offdiag.metrics.symmetry import has_map, height, rate_map

BALANCED, SHARES = 0.5, (0.05, 0.95)
"""Shares of the positive class: imbalance coefficients of 0, and of -0.9 and 0.9."""
_STEPS = 20
_ROUNDING = 1e-9

Floats = NDArray[np.float64]


class ImbalanceGroup(StrEnum):
    """When the imbalance of two classes changes a metric, both recalls being fixed."""

    INDEPENDENT = "independent"
    EQUAL_RECALLS = "equal recalls"
    DEPENDENT = "dependent"


GROUP_WORDS: Mapping[ImbalanceGroup, str] = {
    ImbalanceGroup.INDEPENDENT: "keeps its value at every imbalance of the classes",
    ImbalanceGroup.EQUAL_RECALLS: "keeps its value at every imbalance only where recall and "
    "specificity are equal",
    ImbalanceGroup.DEPENDENT: "changes with the imbalance also where recall and specificity are "
    "equal",
}


@dataclass(frozen=True, slots=True)
class ImbalanceEffect:
    """The group of a metric, and how far 5 % or 95 % of positive samples move it from 50 %.

    `mean` and `largest` are over an even grid of both recalls, on the range of the metric scaled
    to 0 to 1 (a ratio x as x / (1 + x)).
    """

    group: ImbalanceGroup
    mean: float
    largest: float


def imbalance_effect(spec: MetricSpec) -> ImbalanceEffect | None:
    """What imbalance does to a metric; None where it depends on more than recalls and shares."""
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
