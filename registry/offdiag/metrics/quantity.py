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
_CODE = {reason: np.uint8(code) for code, reason in enumerate(REASONS, start=1)}

Causes = NDArray[np.uint8]
"""For each place the code of the reason why it is undefined, 0 where it is defined."""


def reason_code(reason: Reason) -> int:
    """Number of a reason inside one process; 0 means defined. Never stored: names are."""
    return int(_CODE[reason])


def cause(reason: Reason, where: NDArray[np.bool_]) -> Causes:
    """The places at which one reason applies. A comparison of single numbers is one place."""
    if not np.count_nonzero(where):
        return np.zeros(np.shape(where), np.uint8)
    return np.asarray(where * _CODE[reason], np.uint8)


def first_cause(*causes: Causes) -> Causes:
    """The first reason that applies at each place. Arrays broadcast."""
    *earlier, found = causes
    for preferred in reversed(earlier):
        if np.count_nonzero(preferred) or preferred.shape != found.shape:
            found = np.where(preferred, preferred, found)
    return found


@dataclass(frozen=True, slots=True)
class Quantity:
    """Values of one metric, all arrays of one shape.

    `value`: float64, NaN exactly where undefined. `reason`: uint8, 0 where defined, else
    `reason_code`. `to_infinity`: bool, True where the undefined quotient tends to +inf.
    """

    value: NDArray[np.float64]
    reason: Causes
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
        if not np.count_nonzero(self.reason):
            return self.value
        return np.where(self.is_defined, self.value, 0.0)

    def reshaped(self, shape: tuple[int, ...]) -> Quantity:
        """The same values laid out in another shape of the same size."""
        if self.value.shape == shape:
            return self
        return Quantity(
            self.value.reshape(shape), self.reason.reshape(shape), self.to_infinity.reshape(shape)
        )

    def because(self, reason: Reason, where: NDArray[np.bool_]) -> Quantity:
        """The same values, undefined for `reason` at the places `where` is True."""
        if not np.count_nonzero(where):
            return self
        return Quantity(
            np.where(where, np.nan, self.value),
            np.where(where, _CODE[reason], self.reason),
            self.to_infinity & ~where,
        )

    def map(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Quantity:
        """Apply a function that keeps NaN; reasons stay (the complement of a rate, say)."""
        return Quantity(function(self.value), self.reason, np.zeros(self.shape, np.bool_))


def as_float(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Whole numbers of any size, each rounded to float64 once."""
    return np.asarray(numbers).astype(np.float64, copy=False)


def defined(value: NDArray[Any]) -> Quantity:
    """A quantity that is defined everywhere."""
    floats = as_float(value)
    return Quantity(floats, np.zeros(floats.shape, np.uint8), np.zeros(floats.shape, np.bool_))


def defined_except(value: NDArray[Any], undefined: Causes) -> Quantity:
    """The given values where nothing makes them undefined; both of one shape."""
    plain = np.where(undefined, np.nan, value) if np.count_nonzero(undefined) else as_float(value)
    return Quantity(plain, undefined, np.zeros(plain.shape, np.bool_))


def fraction(numerator: NDArray[Any], denominator: NDArray[Any], undefined: Causes) -> Quantity:
    """numerator / denominator where nothing makes it undefined.

    Operands may be int64, float64 or object arrays of Python integers, of the shape of
    `undefined` or without any; `undefined` must cover every zero of the denominator. Each
    operand is rounded to float64 once, so the result is within two roundings of the exact
    quotient.
    """
    top, bottom = as_float(numerator), as_float(denominator)
    if not np.count_nonzero(undefined):
        return Quantity(top / bottom, undefined, np.zeros(undefined.shape, np.bool_))
    return defined_except(top / np.where(undefined, 1.0, bottom), undefined)


def quotient(numerator: NDArray[Any], denominator: NDArray[Any], reason: Reason) -> Quantity:
    """numerator / denominator, undefined for `reason` where the denominator is zero.

    Operands as for `fraction`, with the same accuracy, but they may broadcast.
    """
    is_zero = np.asarray(denominator) == 0
    if np.shape(numerator) != is_zero.shape:
        numerator, denominator, is_zero = np.broadcast_arrays(numerator, denominator, is_zero)
    return fraction(numerator, denominator, cause(reason, is_zero))


def ratio_with_limit(
    numerator: NDArray[Any], denominator: NDArray[Any], undefined: Causes | None = None
) -> Quantity:
    """numerator / denominator of non-negative terms; positive / 0 carries the limit +inf.

    Places that `undefined` names keep their reason and get no limit.
    """
    is_zero = np.asarray(denominator) == 0
    if np.shape(numerator) != is_zero.shape:
        numerator, denominator, is_zero = np.broadcast_arrays(numerator, denominator, is_zero)
    if undefined is not None:
        is_zero = is_zero & (undefined == 0)
    tends = is_zero & (np.asarray(numerator) > 0)
    causes = first_cause(
        cause(Reason.POSITIVE_OVER_ZERO, tends), cause(Reason.ZERO_OVER_ZERO, is_zero)
    )
    if undefined is not None:
        causes = first_cause(undefined, causes)
    return Quantity(fraction(numerator, denominator, causes).value, causes, tends)
