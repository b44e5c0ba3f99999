"""One class against all others: the four counts every per-class metric starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.gradients import Dual, OutcomeShares
from offdiag.metrics.quantity import Causes, Quantity, cause, first_cause
from offdiag.metrics.spec import OF_CLASS, MetricSpec, Scope
from offdiag.metrics.tally import Tally


@dataclass(frozen=True)
class OneVsRest:
    """True positives, false negatives, false positives and true negatives.

    Arrays of one shape, classes along the last axis, whole numbers in multiples of 1/`unit`
    samples, of a type (float64, int64 or object) in which four times the squared total is exact.
    """

    tp: NDArray[Any]
    fn: NDArray[Any]
    fp: NDArray[Any]
    tn: NDArray[Any]
    unit: float = 1

    @cached_property
    def positives(self) -> NDArray[Any]:
        """Actual samples of the class, t."""
        return np.asarray(self.tp + self.fn)

    @cached_property
    def negatives(self) -> NDArray[Any]:
        """Actual samples of the other classes, N - t."""
        return np.asarray(self.fp + self.tn)

    @cached_property
    def predicted_positives(self) -> NDArray[Any]:
        """Samples predicted as the class, p."""
        return np.asarray(self.tp + self.fp)

    @cached_property
    def predicted_negatives(self) -> NDArray[Any]:
        """Samples predicted as another class, N - p."""
        return np.asarray(self.fn + self.tn)

    @cached_property
    def total(self) -> NDArray[Any]:
        """All samples, N, the same for every class."""
        return np.asarray(self.positives + self.negatives)

    @cached_property
    def determinant(self) -> NDArray[Any]:
        """TP TN - FP FN, positive when predictions agree with the truth more than by chance."""
        return np.asarray(self.tp * self.tn - self.fp * self.fn)

    @cached_property
    def no_samples(self) -> Causes:
        return cause(Reason.NO_SAMPLES, np.asarray(self.total == 0))

    @cached_property
    def no_positives(self) -> Causes:
        return cause(Reason.NO_ACTUAL_POSITIVES, np.asarray(self.positives == 0))

    @cached_property
    def no_negatives(self) -> Causes:
        return cause(Reason.NO_ACTUAL_NEGATIVES, np.asarray(self.negatives == 0))

    @cached_property
    def no_predicted_positives(self) -> Causes:
        return cause(Reason.NO_PREDICTED_POSITIVES, np.asarray(self.predicted_positives == 0))

    @cached_property
    def no_predicted_negatives(self) -> Causes:
        return cause(Reason.NO_PREDICTED_NEGATIVES, np.asarray(self.predicted_negatives == 0))

    @cached_property
    def absent(self) -> Causes:
        """The class has no sample and is never predicted."""
        if self.no_positives is None or self.no_predicted_positives is None:
            return None
        is_absent = (self.no_positives > 0) & (self.no_predicted_positives > 0)
        return cause(Reason.CLASS_ABSENT, is_absent)

    @cached_property
    def one_sided_actual(self) -> Causes:
        """The class has no sample, or all of them: rates on one side are undefined."""
        return first_cause(self.no_positives, self.no_negatives)

    @cached_property
    def one_sided_predicted(self) -> Causes:
        """The class is never predicted, or always."""
        return first_cause(self.no_predicted_positives, self.no_predicted_negatives)


def one_vs_rest(tally: Tally) -> OneVsRest:
    """Each class of a stack of matrices against the rest, arrays of shape (..., K)."""
    tp = tally.correct
    fn = tally.actual - tp
    fp = tally.predicted - tp
    tn = tally.wide_total - tally.actual - fp
    return OneVsRest(tp, fn, fp, tn, tally.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassMetric(MetricSpec):
    """A per-class metric: its definition, how it is computed, and its gradient.

    Each formula is brought to one fraction of whole numbers (or one root of one), so that a
    value is rounded once or twice however large the counts are. `slopes` is the formula in
    dual numbers; counts have none.
    """

    scope: Scope = Scope.PER_CLASS
    interval: str = OF_CLASS
    compute: Callable[[OneVsRest], Quantity]
    slopes: Callable[[OutcomeShares], Dual] | None = None
