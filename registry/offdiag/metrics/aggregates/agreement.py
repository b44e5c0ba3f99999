"""Agreement beyond chance: the correlation coefficient R_K and the kappa family.

All are quotients of whole numbers. With S correct cases, row totals t and column totals p,
write T = sum t_k p_k. Differences such as S N - T cancel almost completely for rare classes,
so they are taken between exact integers, and the division or root comes last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.classes import Classified
from offdiag.metrics.quantity import (
    Quantity,
    as_float,
    cause,
    defined_except,
    first_cause,
    fraction,
)
from offdiag.metrics.tally import (
    CLASS_AXIS,
    Tally,
    over_classes,
    products_over_classes,
    widened,
)


def mcc(m: Classified) -> Quantity:
    """(S N - T) / sqrt((N^2 - sum p^2)(N^2 - sum t^2)), Gorodkin 2004, for two or more classes."""
    tally = m.tally
    squared_total = tally.total * tally.total
    actual_spread = squared_total - tally.actual_squares
    predicted_spread = squared_total - tally.predicted_squares
    is_constant_actual = tally.n_actual_classes == 1
    is_constant_predicted = tally.n_predicted_classes == 1
    undefined = first_cause(
        tally.no_cases,
        cause(Reason.CONSTANT_MARGIN, is_constant_actual & is_constant_predicted),
        cause(Reason.CONSTANT_ACTUAL, is_constant_actual),
        cause(Reason.CONSTANT_PREDICTED, is_constant_predicted),
    )
    root = np.sqrt(as_float(actual_spread) * as_float(predicted_spread))
    return fraction(_covariance(tally), root, undefined).map(_within_one)


def cohen_kappa(m: Classified) -> Quantity:
    """(S N - T) / (N^2 - T)."""
    tally = m.tally
    below = tally.total * tally.total - tally.chance_hits
    return fraction(_covariance(tally), below, tally.one_class_everywhere)


def kappa_linear(m: Classified) -> Quantity:
    """Kappa with disagreement |i - j| between the i-th and the j-th declared class."""
    return _weighted_kappa(m.tally, _expected_linear, power=1)


def kappa_quadratic(m: Classified) -> Quantity:
    """Kappa with disagreement (i - j)^2 between the i-th and the j-th declared class."""
    return _weighted_kappa(m.tally, _expected_quadratic, power=2)


def scott_pi(m: Classified) -> Quantity:
    """Kappa with chance agreement from the pooled margins (t + p) / 2N."""
    tally = m.tally
    pooled = _pooled_squares(tally)
    above = 4 * tally.n_correct * tally.total - pooled
    below = 4 * tally.total * tally.total - pooled
    return fraction(above, below, tally.one_class_everywhere)


def gwet_ac1(m: Classified) -> Quantity:
    """Kappa with chance agreement sum q (1 - q) / (K - 1), q the pooled margins (Gwet 2008)."""
    tally = m.tally
    others = tally.n_classes - 1
    bound = 4 * max(others, 1) * tally.largest_total**2
    total, n_correct, pooled = widened(bound, tally.total, tally.n_correct, _pooled_squares(tally))
    chance = 4 * total * total - pooled
    above = 4 * others * n_correct * total - chance
    below = 4 * others * total * total - chance
    undefined = tally.no_cases
    if others == 0:
        undefined = first_cause(undefined, tally.everywhere(Reason.SINGLE_CLASS_DECLARED))
    return fraction(above, below, undefined)


def _covariance(tally: Tally) -> NDArray[Any]:
    return np.asarray(tally.n_correct * tally.total - tally.chance_hits)


def _pooled_squares(tally: Tally) -> NDArray[Any]:
    """sum (t_k + p_k)^2, multiplied out."""
    return np.asarray(tally.actual_squares + 2 * tally.chance_hits + tally.predicted_squares)


def _weighted_kappa(
    tally: Tally,
    expected: Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]],
    *,
    power: int,
) -> Quantity:
    """1 - N sum w c / sum w t p with w = |i - j|^power, written as one fraction."""
    if not tally.ordinal:
        return defined_except(tally.total, tally.everywhere(Reason.ORDER_NOT_DECLARED))
    largest_weight = tally.n_classes**power
    (counts,) = widened(largest_weight * tally.largest_total, tally.counts)
    disagreement = _disagreement(tally, counts, power)
    total, actual, predicted, disagreement = widened(
        2 * largest_weight * tally.largest_total**2,
        *(tally.total, tally.actual, tally.predicted, disagreement),
    )
    chance = expected(actual, predicted, total)
    return fraction(chance - total * disagreement, chance, tally.one_class_everywhere)


def _disagreement(tally: Tally, counts: NDArray[Any], power: int) -> NDArray[Any]:
    """sum |i - j|^power c_ij, in the number type of the tally, shape (R,)."""
    distance = tally.label_distance
    weights = distance if power == 1 else distance * distance
    weights = weights.astype(counts.dtype, copy=False)
    summed = np.asarray(np.einsum("rap,ap->r", counts, weights))
    is_whole = summed.dtype.kind == "O"
    return summed if is_whole else summed.astype(tally.total.dtype, copy=False)


def _expected_linear(
    actual: NDArray[Any], predicted: NDArray[Any], total: NDArray[Any]
) -> NDArray[Any]:
    """sum |i - j| t_i p_j: each cut between neighbouring classes parts the pairs across it."""
    actual_below = np.add.accumulate(actual, axis=CLASS_AXIS)
    predicted_below = np.add.accumulate(predicted, axis=CLASS_AXIS)
    wide = total[..., np.newaxis]
    across = actual_below * (wide - predicted_below) + predicted_below * (wide - actual_below)
    return over_classes(across)


def _expected_quadratic(
    actual: NDArray[Any], predicted: NDArray[Any], total: NDArray[Any]
) -> NDArray[Any]:
    """sum (i - j)^2 t_i p_j, multiplied out so that no K by K table is needed."""
    place = np.arange(actual.shape[CLASS_AXIS]).astype(actual.dtype)
    squares = products_over_classes(place * place, actual + predicted)
    of_means = products_over_classes(place, actual) * products_over_classes(place, predicted)
    return np.asarray(total * squares - 2 * of_means)


def _within_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.minimum(np.maximum(values, -1.0), 1.0)
