"""Dual numbers, and the gradient of a metric with respect to the cells of the matrix.

A dual number is a value that carries its derivatives through arithmetic. Writing a metric once
in dual numbers gives its exact gradient, so the delta method needs neither a hand-derived formula
for each metric nor a step width.

Almost every aggregate is a function of three numbers for each class: its hits c, its actual
samples t and its predicted samples p, all as shares of N. Its derivative by cell (i, j)
is then a_i + b_j, plus d_i on the diagonal, so K^2 derivatives reduce to three vectors. Mutual
information and the weighted kappas add a term that depends on the cell itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet

CLASS_AXIS = -1

Floats = NDArray[np.float64]


class Cells(Protocol):
    """Numbers of samples, or sums of their weights, by pair of classes, with the margins."""

    @property
    def counts(self) -> NDArray[Any]: ...
    @property
    def actual(self) -> NDArray[Any]: ...
    @property
    def predicted(self) -> NDArray[Any]: ...
    @property
    def total(self) -> Any: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def labels(self) -> LabelSet: ...


@dataclass(frozen=True, eq=False)
class MeanCells:
    """The cells of the average run, from the sum of several runs on equally many samples.

    Functions of shares have the same slopes at both. Others, such as the number of errors, do not.
    """

    added: Cells
    n_runs: int

    @property
    def counts(self) -> NDArray[Any]:
        return np.asarray(self.added.counts / self.n_runs)

    @property
    def actual(self) -> NDArray[Any]:
        return np.asarray(self.added.actual / self.n_runs)

    @property
    def predicted(self) -> NDArray[Any]:
        return np.asarray(self.added.predicted / self.n_runs)

    @property
    def total(self) -> Any:
        return self.added.total / self.n_runs

    @property
    def n_classes(self) -> int:
        return self.added.n_classes

    @property
    def labels(self) -> LabelSet:
        return self.added.labels


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """Values and their slopes with respect to V variables of each class.

    For a class value, `value` has shape (K,) and `slope` (V, K): class k depends on its own
    variables only. For a sum over classes (`total`), `value` has shape () and `slope` still
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
        """The same values, with 0 and slope 0 for the classes not kept."""
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


Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Gradient:
    """Value of a metric and its slope at every cell.

    `hits`, `actual` and `predicted` have shape (K,); `cell_term`, if there is one, gives the
    further slope at cells named by their actual and predicted class codes.
    """

    value: float
    hits: Floats
    actual: Floats
    predicted: Floats
    cell_term: Callable[[Codes, Codes], Floats] | None = None

    def at(self, actual: Codes, predicted: Codes) -> Floats:
        """The slopes at the given cells, arrays of class codes of one shape."""
        slope = self.actual[actual] + self.predicted[predicted]
        slope += np.where(actual == predicted, self.hits[actual], 0.0)
        return slope if self.cell_term is None else slope + self.cell_term(actual, predicted)


@dataclass(frozen=True)
class ClassShares:
    """Hits, actual and predicted samples of the classes that occur, as shares of N."""

    hits: Dual
    actual: Dual
    predicted: Dual
    codes: NDArray[np.intp]
    n_classes: int

    @cached_property
    def has_samples(self) -> NDArray[np.bool_]:
        return np.asarray(self.actual.value > 0)

    @cached_property
    def is_predicted(self) -> NDArray[np.bool_]:
        return np.asarray(self.predicted.value > 0)

    @cached_property
    def recall(self) -> Dual:
        return share(self.hits, self.actual)

    @cached_property
    def precision(self) -> Dual:
        return share(self.hits, self.predicted)

    @cached_property
    def f1(self) -> Dual:
        return share(2.0 * self.hits, self.actual + self.predicted)

    @cached_property
    def jaccard(self) -> Dual:
        return share(self.hits, self.actual + self.predicted - self.hits)

    @cached_property
    def accuracy(self) -> Dual:
        return self.hits.total()

    @cached_property
    def chance_hits(self) -> Dual:
        """Accuracy expected by chance: the sum of actual times predicted shares."""
        return (self.actual * self.predicted).total()

    @property
    def undefined(self) -> Dual:
        """What a formula gives where its metric is undefined."""
        return np.nan * self.accuracy

    def gradient(self, result: Dual) -> Gradient:
        """The result of a formula, expressed for all declared classes."""
        slope = np.zeros((3, self.n_classes))
        slope[:, self.codes] = result.slope
        return Gradient(float(result.value), slope[0], slope[1], slope[2])


def class_shares(matrix: Cells) -> ClassShares:
    """The three shares of each class that occurs in a non-empty matrix."""
    codes = np.flatnonzero(matrix.actual + matrix.predicted)
    hits, actual, predicted = variables(
        *(
            counts[codes] / matrix.total
            for counts in (np.diagonal(matrix.counts), matrix.actual, matrix.predicted)
        )
    )
    return ClassShares(hits, actual, predicted, codes, matrix.n_classes)


@dataclass(frozen=True)
class OutcomeShares:
    """True positives, false negatives, false positives and true negatives as shares of N.

    For each class they sum to 1.
    """

    tp: Dual
    fn: Dual
    fp: Dual
    tn: Dual

    @property
    def positives(self) -> Dual:
        return self.tp + self.fn

    @property
    def negatives(self) -> Dual:
        return self.fp + self.tn

    @property
    def predicted(self) -> Dual:
        return self.tp + self.fp

    @property
    def not_predicted(self) -> Dual:
        return self.fn + self.tn

    @property
    def recall(self) -> Dual:
        return self.tp / self.positives

    @property
    def specificity(self) -> Dual:
        return self.tn / self.negatives

    @property
    def fpr(self) -> Dual:
        return self.fp / self.negatives

    @property
    def determinant(self) -> Dual:
        return self.tp * self.tn - self.fp * self.fn


def outcome_shares(matrix: Cells) -> OutcomeShares:
    """The four shares of every class of a non-empty matrix, duals of four variables."""
    return outcome_shares_of_counts(
        np.diagonal(matrix.counts), matrix.actual, matrix.predicted, matrix.total
    )


def outcome_shares_of_counts(
    hits: NDArray[Any], actual: NDArray[Any], predicted: NDArray[Any], total: int
) -> OutcomeShares:
    """The shares from counts (K,) of classes or of labels out of `total` samples, at least one."""
    missed, false_alarms = actual - hits, predicted - hits
    rejected = total - actual - false_alarms
    return OutcomeShares(
        *variables(*(part / total for part in (hits, missed, false_alarms, rejected)))
    )


def margin_shares(matrix: Cells) -> tuple[Floats, Floats]:
    """Margins (K,), actual and predicted, of a non-empty matrix as shares of N."""
    return matrix.actual / matrix.total, matrix.predicted / matrix.total
