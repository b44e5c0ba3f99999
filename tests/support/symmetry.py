"""Transformations of confusion matrices and scales on which metrics change their sign.

Those of Luque et al. (2019, Symmetry 11(1) 47) for two classes and of Zeng (2025) for any number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.orientation import invert_classes, swap_axes
from offdiag.metrics.spec import MetricSpec, Transformation

Counts = NDArray[Any]


def swap_roles(counts: Counts) -> Counts:
    """Actual and predicted classes trade places, (..., K, K)."""
    return swap_axes(counts)


def permute_labels(counts: Counts, order: Sequence[int]) -> Counts:
    """The classes in another order on both axes; class i of the result is `order[i]` before."""
    places = np.asarray(order)
    return counts[..., places[:, np.newaxis], places]


def invert_scoring(counts: Counts) -> Counts:
    """Every answer becomes the other one, (..., 2, 2)."""
    return counts[..., :, ::-1]


def invert_fully(counts: Counts) -> Counts:
    """Both inversions, (..., 2, 2)."""
    return invert_classes(invert_scoring(counts))


INVERSIONS: Mapping[Transformation, Callable[[Counts], Counts]] = MappingProxyType(
    {
        Transformation.CLASS_INVERSION: invert_classes,
        Transformation.SCORING_INVERSION: invert_scoring,
        Transformation.FULL_INVERSION: invert_fully,
    }
)


def rescaled(values: NDArray[np.float64], spec: MetricSpec) -> NDArray[np.float64]:
    """Values on a scale with 0 in the middle: [-1, 1], or the logarithm of a ratio.

    Turning a classifier into its opposite changes the sign of a metric that is symmetric in
    scoring on this scale.
    """
    if math.isinf(spec.high):
        return np.log(values)
    return (2 * values - spec.low - spec.high) / (spec.high - spec.low)


def skewness(values: NDArray[np.float64]) -> float:
    """Third standardised moment of equally likely values (Luque et al., equation 23)."""
    centred = values - values.mean()
    return float(np.mean(centred**3) / np.mean(centred**2) ** 1.5)
