"""Many values of one metric at once, each possibly undefined for its own reason.

A metric is computed for a stack of matrices, or for all classes, in one vectorised pass. The
result keeps three arrays side by side instead of a NaN that forgot why it is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue, Reason

REASONS: tuple[Reason, ...] = tuple(Reason)
_CODE = {reason: code for code, reason in enumerate(REASONS, start=1)}


def reason_code(reason: Reason) -> int:
    """Number of a reason inside one process; 0 means defined. Never stored: names are."""
    return _CODE[reason]


@dataclass(frozen=True, slots=True)
class Quantity:
    """Values of one metric, all arrays of one shape.

    `value`: float64, NaN exactly where undefined. `reason`: uint8, 0 where defined, else
    `reason_code`. `to_infinity`: bool, True where the undefined quotient tends to +inf.
    """

    value: NDArray[np.float64]
    reason: NDArray[np.uint8]
    to_infinity: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def is_defined(self) -> NDArray[np.bool_]:
        defined: NDArray[np.bool_] = self.reason == 0
        return defined

    def at(self, *index: int) -> MetricValue:
        """One value, as a plain `MetricValue`."""
        code = int(self.reason[index])
        if code == 0:
            return MetricValue(float(self.value[index]))
        limit = POSITIVE_INFINITY if self.to_infinity[index] else None
        return MetricValue(None, REASONS[code - 1].value, limit)

    def or_zero(self) -> NDArray[np.float64]:
        """The values with 0 for undefined ones, for averages that say so in their name."""
        return np.where(self.is_defined, self.value, 0.0)

    def because(self, reason: Reason, where: NDArray[np.bool_]) -> Quantity:
        """The same values, undefined for `reason` at the places `where` is True."""
        return Quantity(
            np.where(where, np.nan, self.value),
            np.where(where, np.uint8(reason_code(reason)), self.reason),
            self.to_infinity & ~where,
        )

    def map(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Quantity:
        """Apply a function that keeps NaN; reasons stay (the complement of a rate, say)."""
        return Quantity(function(self.value), self.reason, np.zeros_like(self.to_infinity))


def defined(value: NDArray[Any]) -> Quantity:
    """A quantity that is defined everywhere."""
    floats = np.asarray(value, dtype=np.float64)
    return Quantity(
        floats, np.zeros(floats.shape, np.uint8), np.zeros(floats.shape, np.bool_)
    )


def quotient(numerator: NDArray[Any], denominator: NDArray[Any], reason: Reason) -> Quantity:
    """numerator / denominator, undefined for `reason` where the denominator is zero.

    Operands may be int64, float64 or object arrays of Python integers. Each is converted to
    float64 once, so the error is at most two roundings of the exact quotient.
    """
    top = np.asarray(numerator).astype(np.float64)
    bottom = np.asarray(denominator).astype(np.float64)
    top, bottom = np.broadcast_arrays(top, bottom)
    is_zero = bottom == 0
    value = np.full(bottom.shape, np.nan)
    np.divide(top, bottom, out=value, where=~is_zero)
    codes = np.where(is_zero, np.uint8(reason_code(reason)), np.uint8(0))
    return Quantity(value, codes, np.zeros(bottom.shape, np.bool_))


def ratio_with_limit(numerator: NDArray[Any], denominator: NDArray[Any]) -> Quantity:
    """numerator / denominator of non-negative terms; positive / 0 carries the limit +inf."""
    plain = quotient(numerator, denominator, Reason.ZERO_OVER_ZERO)
    tends = (np.asarray(denominator) == 0) & (np.asarray(numerator) > 0)
    tends = np.broadcast_to(tends, plain.shape)
    codes = np.where(tends, np.uint8(reason_code(Reason.POSITIVE_OVER_ZERO)), plain.reason)
    return Quantity(plain.value, codes, tends)
