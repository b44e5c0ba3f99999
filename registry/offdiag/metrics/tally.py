"""The exact whole numbers that every metric of a confusion matrix is computed from.

Formulas multiply counts, and products stop being exact in float64 at 1e8 samples and overflow
int64 at 3e9. A tally therefore chooses the number type once: float64 where every product is below
2**53 and so exact (and fastest), int64 where every product fits, Python integers otherwise.
Fractional cells (sample weights) become integers too, so no formula has to handle rounding.

Fractional cells are multiples of a power of two, as all floats are, so they can be counted
exactly in that unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.errors import InvalidInput
from offdiag.metrics.orientation import (
    STACK_ACTUAL_AXIS,
    STACK_PREDICTED_AXIS,
    actual_totals,
    predicted_totals,
)
from offdiag.metrics.quantity import Causes, as_float, cause, first_cause

WIDEST_WEIGHT_RATIO = 2.0**150
"""Largest over smallest positive fractional cell; keeps fourth powers inside float64."""


def whole_multiples(weights: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Weights as exact multiples of 1/unit, Python integers, and the unit, a power of two.

    Raises `InvalidInput` for weights that are negative, not finite or more than 45 orders of
    magnitude apart.
    """
    cells = weights.astype(np.float64, copy=False)
    if not np.isfinite(cells).all() or (cells < 0).any():
        raise InvalidInput(
            "a weighted cell is negative or not finite.",
            field="matrix",
            hint="Sums of sample weights are finite and 0 or more.",
        )
    positive = cells[cells > 0]
    if positive.size and positive.max() / WIDEST_WEIGHT_RATIO > positive.min():
        raise InvalidInput(
            f"weights range from {positive.min():g} to {positive.max():g}.",
            field="matrix",
            hint="Rescale or drop weights that are negligible next to the others.",
        )
    ratios = [cell.as_integer_ratio() for cell in cells.ravel().tolist()]
    unit = max((below for _, below in ratios), default=1)
    whole = np.empty(len(ratios), dtype=object)
    whole[:] = [above * (unit // below) for above, below in ratios]
    return whole.reshape(cells.shape), unit


CLASS_AXIS = -1
"""Axis along which the class changes in arrays of shape (R, K)."""
LARGEST_EXACT_FLOAT = 2**53
LARGEST_INT64 = 2**63 - 1
LARGEST_PRODUCT = 4
"""No product used below exceeds this many times N * N, unless it is widened first."""


@dataclass(frozen=True)
class Tally:
    """Margins and diagonals of a stack of R confusion matrices.

    `counts` has shape (R, K, K), int64 or object (Python integers), actual class along the
    last but one axis. `actual`, `predicted` and `correct` (the diagonal) have shape (R, K),
    `total` (R,), all of the number type in which products are exact. A sample of weight 1
    counts `unit`. `ordinal` says that the order of the classes has a meaning; `weighted` that
    cells are sums of weights, not numbers of samples. `names` are the class names where they
    are known; only declared metrics need them.
    """

    counts: NDArray[Any]
    actual: NDArray[Any]
    predicted: NDArray[Any]
    correct: NDArray[Any]
    total: NDArray[Any]
    unit: float
    ordinal: bool
    weighted: bool
    names: tuple[str, ...] = ()

    @property
    def n_classes(self) -> int:
        """Number of declared classes, K."""
        return int(self.counts.shape[STACK_PREDICTED_AXIS])

    @cached_property
    def n_correct(self) -> NDArray[Any]:
        """Sum of the diagonal, shape (R,)."""
        return over_classes(self.correct)

    @cached_property
    def largest_total(self) -> int:
        """Samples in the largest matrix, which bounds all products."""
        return int(self.total.max(initial=0))

    @cached_property
    def chance_hits(self) -> NDArray[Any]:
        """sum t_k p_k over the margins: N times the hits expected by chance, shape (R,)."""
        return products_over_classes(self.actual, self.predicted)

    @cached_property
    def actual_squares(self) -> NDArray[Any]:
        """sum t_k^2, shape (R,)."""
        return products_over_classes(self.actual, self.actual)

    @cached_property
    def predicted_squares(self) -> NDArray[Any]:
        """sum p_k^2, shape (R,)."""
        return products_over_classes(self.predicted, self.predicted)

    @cached_property
    def largest_class(self) -> NDArray[Any]:
        """Samples of the most frequent actual class, shape (R,)."""
        largest: NDArray[Any] = self.actual.max(axis=CLASS_AXIS)
        return largest

    @cached_property
    def n_actual_classes(self) -> NDArray[np.int64]:
        """Number of classes that have actual samples, shape (R,)."""
        return how_many(self.actual > 0)

    @cached_property
    def n_predicted_classes(self) -> NDArray[np.int64]:
        """Number of classes that are ever predicted, shape (R,)."""
        return how_many(self.predicted > 0)

    @cached_property
    def n_occurring_classes(self) -> NDArray[np.int64]:
        """Number of classes that occur in either margin, shape (R,)."""
        return how_many(self.actual + self.predicted > 0)

    @cached_property
    def is_empty(self) -> NDArray[np.bool_]:
        """Where there is no sample at all, shape (R,)."""
        return np.asarray(self.total == 0)

    @cached_property
    def no_samples(self) -> Causes:
        return cause(Reason.NO_SAMPLES, self.is_empty)

    @cached_property
    def one_class_everywhere(self) -> Causes:
        """Both margins hold only one and the same class, so chance agrees on every sample."""
        is_single = self.n_occurring_classes == 1
        return first_cause(self.no_samples, cause(Reason.CHANCE_AGREEMENT_CERTAIN, is_single))

    @cached_property
    def wide_total(self) -> NDArray[Any]:
        """`total` with an axis of length 1 for the class."""
        return self.total[..., np.newaxis]

    def everywhere(self, reason: Reason) -> Causes:
        """A reason that applies to all matrices of the stack, shape (R,)."""
        return cause(reason, np.full(self.total.shape, True))


def tally(
    counts: NDArray[Any],
    *,
    ordinal: bool = False,
    names: tuple[str, ...] = (),
    unit: float = 1,
) -> Tally:
    """Add up a stack of matrices of shape (..., K, K), flattened to (R, K, K).

    int64 and object cells are numbers of samples, or of fractions with `unit` of them per sample
    (totals below 2**62 for int64); float64 cells are sums of weights. Raises `InvalidInput` for
    weights that are negative, not finite or more than 45 orders of magnitude apart.
    """
    stack = counts.reshape(-1, *counts.shape[STACK_ACTUAL_AXIS:])
    if counts.dtype.kind == "f":
        cells, of_weights = whole_multiples(stack)
        return _added_up(cells, names, unit=of_weights, ordinal=ordinal, weighted=True)
    cells = stack if counts.dtype.kind == "O" else np.ascontiguousarray(stack, np.int64)
    return _added_up(cells, names, unit=unit, ordinal=ordinal, weighted=False)


def over_classes(numbers: NDArray[Any]) -> NDArray[Any]:
    """Sum over the class axis, (..., K) -> (...)."""
    if numbers.dtype.kind != "O":
        return np.asarray(np.einsum("...k->...", numbers))
    totals: NDArray[Any] = numbers.sum(axis=CLASS_AXIS)
    return totals


def products_over_classes(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Sum of products of whole numbers over the class axis, (..., K) -> (...). They broadcast.

    It is exact, so the order in which a library adds them up does not matter.
    """
    if hasattr(np, "vecdot"):
        return np.asarray(np.vecdot(one, other))
    products: NDArray[Any] = (one * other).sum(axis=CLASS_AXIS)
    return products


def how_many(where: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of classes for which something holds, (R, K) -> (R,)."""
    found: NDArray[np.int64] = where.sum(axis=CLASS_AXIS)
    return found


def widened(bound: int, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Whole numbers in the fastest type, no narrower than theirs, that holds products to `bound`.

    The types are tried in the order float64, int64, Python integers.
    """
    if all(bound <= _largest_exact(array.dtype) for array in arrays):
        return arrays
    whole = (a if a.dtype.kind == "O" else a.astype(np.int64, copy=False) for a in arrays)
    if bound <= LARGEST_INT64:
        return tuple(whole)
    return tuple(array.astype(object, copy=False) for array in whole)


def tally_of_margins(
    actual: NDArray[np.int64],
    predicted: NDArray[np.int64],
    correct: NDArray[np.int64],
    *,
    unit: float,
) -> Tally:
    """Matrices of which only margins and diagonals (R, K) are known; their `counts` are all 0."""
    return _of_parts(no_cells(actual), (actual, predicted, correct), unit=unit)


def no_cells(margin: NDArray[Any]) -> NDArray[np.int64]:
    """Zeros (R, K, K) in place of the unknown cells of matrices with margins (R, K)."""
    return np.broadcast_to(np.int64(0), (*margin.shape, margin.shape[CLASS_AXIS]))


def _added_up(
    cells: NDArray[Any], names: tuple[str, ...], *, unit: float, ordinal: bool, weighted: bool
) -> Tally:
    actual, predicted = actual_totals(cells), predicted_totals(cells)
    correct = cells.diagonal(axis1=STACK_ACTUAL_AXIS, axis2=STACK_PREDICTED_AXIS)
    margins = actual, predicted, correct
    return _of_parts(cells, margins, unit=unit, ordinal=ordinal, weighted=weighted, names=names)


def _of_parts(
    cells: NDArray[Any],
    margins: tuple[NDArray[Any], ...],
    *,
    unit: float,
    ordinal: bool = False,
    weighted: bool = False,
    names: tuple[str, ...] = (),
) -> Tally:
    total = over_classes(margins[0])
    largest = LARGEST_PRODUCT * int(total.max(initial=0)) ** 2
    parts: tuple[NDArray[Any], ...] = (*margins, total)
    if cells.dtype.kind != "O" and largest <= LARGEST_EXACT_FLOAT:
        parts = tuple(as_float(part) for part in parts)
    actual, predicted, correct, total = widened(largest, *parts)
    correct = np.ascontiguousarray(correct)
    return Tally(cells, actual, predicted, correct, total, unit, ordinal, weighted, names)


def _largest_exact(dtype: np.dtype[Any]) -> float:
    if dtype.kind == "f":
        return LARGEST_EXACT_FLOAT
    return math.inf if dtype.kind == "O" else LARGEST_INT64
