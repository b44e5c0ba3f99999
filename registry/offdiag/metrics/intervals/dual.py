"""Dual numbers: a value that carries its derivatives through arithmetic.

Writing a metric once in dual numbers gives its exact gradient, so the delta method needs no
hand-derived formula for each metric and no step width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CLASS_AXIS = -1

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """Values and their slopes with respect to V variables of each class.

    Of a class value, `value` has shape (K,) and `slope` (V, K): class k depends on its own
    variables only. Of a sum over classes (`total`), `value` has shape () and `slope` still
    (V, K), now the derivative with respect to every variable of every class. The two kinds
    never meet in one operation, except with plain numbers.
    """

    value: Floats
    slope: Floats

    def __add__(self, other: Dual | float) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.slope + other.slope)
        return Dual(self.value + other, self.slope)

    def __sub__(self, other: Dual | float) -> Dual:
        return self + (-1.0) * other

    def __rsub__(self, other: float) -> Dual:
        return (-1.0) * self + other

    def __mul__(self, other: Dual | float | Floats) -> Dual:
        if isinstance(other, Dual):
            return Dual(
                self.value * other.value, self.slope * other.value + other.slope * self.value
            )
        return Dual(self.value * other, self.slope * other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Dual | float) -> Dual:
        if not isinstance(other, Dual):
            return self * (1.0 / other)
        quotient = self.value / other.value
        return Dual(quotient, (self.slope - quotient * other.slope) / other.value)

    def sqrt(self) -> Dual:
        root = np.sqrt(self.value)
        return Dual(root, self.slope / (2.0 * root))

    def log(self) -> Dual:
        return Dual(np.log(self.value), self.slope / self.value)

    def exp(self) -> Dual:
        raised = np.exp(self.value)
        return Dual(raised, self.slope * raised)

    def where(self, keep: NDArray[np.bool_]) -> Dual:
        """The same with 0 and slope 0 for the classes not kept."""
        return Dual(np.where(keep, self.value, 0.0), np.where(keep, self.slope, 0.0))

    def total(self) -> Dual:
        """The sum over the classes."""
        return Dual(np.asarray(self.value.sum(axis=CLASS_AXIS)), self.slope)


def variables(*values: Floats) -> tuple[Dual, ...]:
    """The independent variables, each an array of shape (K,)."""
    n_variables = len(values)
    duals = []
    for place, value in enumerate(values):
        slope = np.zeros((n_variables, *value.shape))
        slope[place] = 1.0
        duals.append(Dual(value, slope))
    return tuple(duals)


def share(part: Dual, whole: Dual) -> Dual:
    """part / whole, and 0 with slope 0 for classes where the whole is 0."""
    occurs = whole.value > 0
    safe = Dual(np.where(occurs, whole.value, 1.0), whole.slope)
    return (part / safe).where(occurs)
