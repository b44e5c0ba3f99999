"""The facts of confusion matrices that the rules look at.

Rules judge a whole stack of matrices at once. A stack of one is a run; a stack of thousands
is the simulation that shows how often a rule fires, with the very code that judges runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.orientation import (
    STACK_ACTUAL_AXIS,
    STACK_PREDICTED_AXIS,
    actual_totals,
    predicted_totals,
)
from offdiag.metrics.suite import Suite, evaluate_stack
from offdiag.metrics.tally import CLASS_AXIS

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Subjects:
    """R matrices over the same K classes: `counts` is (R, K, K), actual classes first.

    Attributes about runs have shape (R,), about classes (R, K); NaN marks what is undefined.
    `deployment` holds the share of a class where the model will be used, for the classes for
    which somebody declared it.
    """

    counts: NDArray[np.int64]
    names: tuple[str, ...]
    deployment: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def suite(self) -> Suite:
        return evaluate_stack(self.counts, ordinal=False)

    @cached_property
    def actual(self) -> Floats:
        totals: Floats = actual_totals(self.counts).astype(np.float64)
        return totals

    @cached_property
    def predicted(self) -> Floats:
        totals: Floats = predicted_totals(self.counts).astype(np.float64)
        return totals

    @cached_property
    def correct(self) -> Floats:
        diagonal = np.diagonal(self.counts, axis1=STACK_ACTUAL_AXIS, axis2=STACK_PREDICTED_AXIS)
        return diagonal.astype(np.float64)

    @cached_property
    def total(self) -> Floats:
        return np.asarray(self.actual.sum(axis=CLASS_AXIS))

    @cached_property
    def n_correct(self) -> Floats:
        return np.asarray(self.correct.sum(axis=CLASS_AXIS))

    @cached_property
    def n_actual_classes(self) -> Floats:
        """Classes with at least one case, K'."""
        return np.asarray(np.count_nonzero(self.actual, axis=CLASS_AXIS), np.float64)

    @cached_property
    def n_predicted_classes(self) -> Floats:
        return np.asarray(np.count_nonzero(self.predicted, axis=CLASS_AXIS), np.float64)

    @cached_property
    def is_assessable(self) -> Flags:
        """Where at least two classes have cases; otherwise no rule has anything to compare."""
        return np.asarray(self.n_actual_classes >= 2)

    @cached_property
    def has_cases(self) -> Flags:
        return np.asarray(self.actual > 0)

    @cached_property
    def largest_class(self) -> NDArray[np.intp]:
        """Code of the class with the most cases, the first of equals, shape (R,)."""
        return np.asarray(self.actual.argmax(axis=CLASS_AXIS))

    @cached_property
    def accuracy(self) -> Floats:
        return self.aggregate("overall_accuracy")

    @cached_property
    def recall(self) -> Floats:
        """Share of the cases of each class that were found, (R, K); NaN where there are none."""
        cases = np.where(self.has_cases, self.actual, np.nan)
        return self.correct / cases

    @cached_property
    def accuracy_elsewhere(self) -> Floats:
        """Accuracy on the cases of all other classes, (R, K); NaN where there are none."""
        others = per_run(self.total) - self.actual
        hits = per_run(self.n_correct) - self.correct
        return np.where(others > 0, hits / np.where(others > 0, others, 1.0), np.nan)

    def aggregate(self, key: str) -> Floats:
        """Values of an aggregate metric, shape (R,)."""
        return self.suite.aggregate[key].value

    def per_class(self, key: str) -> Floats:
        """Values of a per-class metric, shape (R, K)."""
        return self.suite.per_class[key].value

    def is_minority(self, share: float) -> Flags:
        """Classes with cases, but at most `share` of those of the largest class, (R, K)."""
        largest = self.actual.max(axis=CLASS_AXIS)
        return self.has_cases & (self.actual <= share * per_run(largest))


def per_run(values: NDArray[np.float64]) -> Floats:
    """Values of runs (R,) in a shape (R, 1) that goes with values of classes."""
    return values[:, np.newaxis]


def of_class(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """From values (R, K) those of one class each, given by codes (R,), shape (R,)."""
    return np.take_along_axis(values, codes[:, np.newaxis], axis=CLASS_AXIS)[:, 0]
