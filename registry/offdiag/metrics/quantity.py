"""Many values of one metric at once, each possibly undefined for its own reason.

A metric is computed for a stack of matrices, or for all classes, in one vectorised pass. The
result keeps the reasons beside the values, because a NaN alone would not say why it is one. Almost
every value is defined, so the reasons are usually absent rather than an array of zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue, Reason

REASONS: tuple[Reason, ...] = tuple(Reason)
_CODE = {reason: np.uint8(code) for code, reason in enumerate(REASONS, start=1)}
"""Reason codes within one process; 0 means defined. Never stored: names are stored instead."""

Causes = NDArray[np.uint8] | None
"""For each place, the code of the reason why it is undefined, or 0 where it is defined.

None if all places are defined.
"""


def cause(reason: Reason, where: NDArray[np.bool_]) -> Causes:
    """The places at which a reason applies. A comparison of single numbers gives one place."""
    return np.asarray(where * _CODE[reason], np.uint8) if np.count_nonzero(where) else None


def renamed(reason: Reason, causes: Causes) -> Causes:
    """The same undefined places, all with another reason."""
    return None if causes is None else cause(reason, causes > 0)


def first_cause(*causes: Causes) -> Causes:
    """The first reason that applies at each place. Arrays broadcast."""
    found: Causes = None
    for preferred in reversed(causes):
        if preferred is not None:
            found = preferred if found is None else np.where(preferred, preferred, found)
    return found


def reason_at(causes: Causes, place: tuple[int, ...], shape: tuple[int, ...]) -> Reason | None:
    """The reason at one place of values of this shape, None if there is none."""
    code = 0 if causes is None else int(np.broadcast_to(causes, shape)[place])
    return REASONS[code - 1] if code else None


# A tuple because creating one takes half as long as a frozen dataclass, which would account
# for a sixth of the time that the suite of one matrix takes.
class Quantity(NamedTuple):
    """Values of one metric, all arrays of one shape.

    `value`: float64, NaN exactly where undefined. `causes`: the reasons, None if it is defined
    everywhere. `limits`: True where the undefined quotient tends to +inf, None if none does.
    """

    value: NDArray[np.float64]
    causes: Causes = None
    limits: NDArray[np.bool_] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def reason(self) -> NDArray[np.uint8]:
        """uint8: 0 where defined, else the code of the reason."""
        return np.zeros(self.shape, np.uint8) if self.causes is None else self.causes

    @property
    def to_infinity(self) -> NDArray[np.bool_]:
        """True where the undefined quotient tends to +inf."""
        return np.zeros(self.shape, np.bool_) if self.limits is None else self.limits

    @property
    def is_defined(self) -> NDArray[np.bool_]:
        defined: NDArray[np.bool_] = self.reason == 0
        return defined

    def at(self, *index: int) -> MetricValue:
        """One value, as a plain `MetricValue`."""
        code = 0 if self.causes is None else int(self.causes[index])
        if code == 0:
            return MetricValue(float(self.value[index]))
        tends = self.limits is not None and self.limits[index]
        return MetricValue(None, REASONS[code - 1].value, POSITIVE_INFINITY if tends else None)

    def or_zero(self) -> NDArray[np.float64]:
        """The values with 0 for undefined ones, for averages whose names say so."""
        return self.value if self.causes is None else np.where(self.causes, 0.0, self.value)

    def reshaped(self, shape: tuple[int, ...]) -> Quantity:
        """The same values laid out in another shape of the same size."""
        if self.value.shape == shape:
            return self
        value = self.value.reshape(shape)
        if self.causes is None:
            return Quantity(value)
        limits = None if self.limits is None else self.limits.reshape(shape)
        return Quantity(value, self.causes.reshape(shape), limits)

    def because(self, reason: Reason, where: NDArray[np.bool_]) -> Quantity:
        """The same values, undefined for `reason` at the places `where` is True."""
        if not np.count_nonzero(where):
            return self
        return Quantity(
            np.where(where, np.nan, self.value),
            np.where(where, _CODE[reason], self.reason),
            None if self.limits is None else self.limits & ~where,
        )

    def map(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Quantity:
        """Apply a function that keeps NaN; reasons are kept (as for the complement of a rate)."""
        return Quantity(function(self.value), self.causes)


def at_most_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undo the last-digit excess that a rounded root or logarithm can cause."""
    return np.minimum(values, 1.0)


def within_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for values from -1 to 1."""
    return np.minimum(np.maximum(values, -1.0), 1.0)


def as_float(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Whole numbers of any size, each rounded to float64 once."""
    return np.asarray(numbers, np.float64)


def defined(value: NDArray[Any]) -> Quantity:
    return Quantity(as_float(value))


def defined_except(value: NDArray[Any], undefined: Causes) -> Quantity:
    """The given values, undefined where `undefined` has a reason; both have one shape."""
    if undefined is None:
        return defined(value)
    return Quantity(np.where(undefined, np.nan, as_float(value)), undefined)


def fraction(numerator: NDArray[Any], denominator: NDArray[Any], undefined: Causes) -> Quantity:
    """numerator / denominator, undefined where `undefined` has a reason.

    Operands may be int64, float64 or object arrays of Python integers, of the shape of
    `undefined`; the denominator may also be a scalar. `undefined` must cover every zero of the
    denominator. Each operand is rounded to float64 once, so the result is within two roundings
    of the exact quotient.
    """
    top, bottom = as_float(numerator), as_float(denominator)
    if undefined is None:
        return Quantity(top / bottom)
    return defined_except(top / np.where(undefined, 1.0, bottom), undefined)


def quotient(numerator: NDArray[Any], denominator: NDArray[Any], reason: Reason) -> Quantity:
    """numerator / denominator, undefined for `reason` where the denominator is zero.

    Operands and accuracy are as in `fraction`, but the operands may broadcast.
    """
    is_zero = np.asarray(denominator) == 0
    if np.shape(numerator) != is_zero.shape:
        numerator, denominator, is_zero = np.broadcast_arrays(numerator, denominator, is_zero)
    return fraction(numerator, denominator, cause(reason, is_zero))


def ratio_with_limit(
    numerator: NDArray[Any], denominator: NDArray[Any], undefined: Causes = None
) -> Quantity:
    """numerator / denominator of non-negative terms; positive / 0 carries the limit +inf.

    Operands as in `fraction`. Places that `undefined` names keep their reason and get no limit.
    """
    is_zero = np.asarray(denominator == 0)
    if undefined is not None:
        is_zero = is_zero & (undefined == 0)
    if not np.count_nonzero(is_zero):
        return fraction(numerator, denominator, undefined)
    tends = is_zero & np.asarray(numerator > 0)
    causes = first_cause(
        undefined, cause(Reason.POSITIVE_OVER_ZERO, tends), cause(Reason.ZERO_OVER_ZERO, is_zero)
    )
    return Quantity(fraction(numerator, denominator, causes).value, causes, tends)
