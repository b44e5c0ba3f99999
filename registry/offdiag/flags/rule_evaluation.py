"""How rules judge a stack of matrices: what they read, and which comparisons they use.

A stack of one is a run; a stack of thousands is the simulation that measures how often a rule
fires, with exactly the code that judges runs.

Binomial tails are incomplete beta integrals, which keep their relative accuracy far into the tail
and for counts beyond 2**31, where scipy's own binomial distribution fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.values import ROUNDING, Reason
from offdiag.extras import optional
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import SEVERITIES, Condition, Evidence, Severity, Sign
from offdiag.metrics.counted import CountedSets
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.orientation import (
    STACK_ACTUAL_AXIS,
    STACK_PREDICTED_AXIS,
    actual_totals,
    predicted_totals,
)
from offdiag.metrics.quantity import Causes, cause, first_cause, reason_at
from offdiag.metrics.suite import Suite, evaluate_stack
from offdiag.metrics.tally import CLASS_AXIS

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Trials:
    """Hits among samples for binomial tests: numbers of samples, or effective sizes."""

    hits: Floats
    cases: Floats


@dataclass(frozen=True)
class Subjects:
    """R matrices over the same K classes: `counts` is (R, K, K), actual classes first.

    Attributes of runs have shape (R,), of classes (R, K); NaN marks undefined values.
    """

    counts: NDArray[Any]
    names: tuple[str, ...]

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
        """Classes with at least one sample, K'."""
        return np.asarray(np.count_nonzero(self.actual, axis=CLASS_AXIS), np.float64)

    @cached_property
    def n_predicted_classes(self) -> Floats:
        return np.asarray(np.count_nonzero(self.predicted, axis=CLASS_AXIS), np.float64)

    @cached_property
    def is_assessable(self) -> Flags:
        """Where at least two classes have samples; otherwise no rule has anything to compare."""
        return np.asarray(self.n_actual_classes >= 2)

    @cached_property
    def has_samples(self) -> Flags:
        return np.asarray(self.actual > 0)

    @cached_property
    def largest_class(self) -> NDArray[np.intp]:
        """Code of the class with the most samples, the first if tied, shape (R,)."""
        return np.asarray(self.actual.argmax(axis=CLASS_AXIS))

    @cached_property
    def accuracy(self) -> Floats:
        return self.aggregate("overall_accuracy")

    @cached_property
    def recall(self) -> Floats:
        """Share of the samples of each class that were found, (R, K); NaN without samples."""
        cases = np.where(self.has_samples, self.actual, np.nan)
        return self.correct / cases

    @cached_property
    def accuracy_elsewhere(self) -> Floats:
        """Accuracy on the samples of all other classes, (R, K); NaN without samples."""
        others = per_run(self.total) - self.actual
        hits = per_run(self.n_correct) - self.correct
        return np.where(others > 0, hits / np.where(others > 0, others, 1.0), np.nan)

    @property
    def is_weighted(self) -> bool:
        """Whether `counts` are sums of weights; trials then use effective sizes."""
        return False

    @property
    def squares(self) -> NDArray[Any]:
        """Sums of squared weights of the samples in `counts`; without weights, their number."""
        return self.counts

    @property
    def numbers(self) -> Subjects:
        """The same runs in numbers of samples, whatever their weights."""
        return self

    @cached_property
    def recalls(self) -> Trials:
        """Samples of each class, and those found, (R, K)."""
        return Trials(self.correct, self.actual)

    @cached_property
    def others(self) -> Trials:
        """Samples of all classes except each one, and those found, (R, K)."""
        return Trials(per_run(self.n_correct) - self.correct, per_run(self.total) - self.actual)

    @cached_property
    def recall_bounds(self) -> Bounds:
        """Wilson's 95 % interval of each recall, (R, K)."""
        return wilson(self.correct, self.actual)

    @cached_property
    def precisions(self) -> Trials:
        """Predictions of each class, and those that are correct, (R, K)."""
        return Trials(self.correct, self.predicted)

    @cached_property
    def misses(self) -> Trials:
        """Errors involving each class, and those that are false negatives, (R, K)."""
        missed = self.actual - self.correct
        return Trials(missed, missed + self.predicted - self.correct)

    @cached_property
    def gains(self) -> Trials:
        """Samples that only the model or only the constant prediction gets right, (R,).

        Hits are those of the model. The constant prediction is that of the largest class.
        """
        return self.gains_over(self.largest_class)

    def gains_over(self, answer: NDArray[np.intp]) -> Trials:
        """The gains over always predicting the class with code `answer`, (R,)."""
        won = self.n_correct - of_class(self.correct, answer)
        return Trials(won, won + of_class(self.actual - self.correct, answer))

    @cached_property
    def n_of_others(self) -> Floats:
        """Samples of all classes except the one predicted most often, (R,)."""
        return self.total - of_class(self.actual, self.predicted.argmax(axis=CLASS_AXIS))

    @cached_property
    def size(self) -> Floats:
        """Number of samples, or effective size with weights, (R,)."""
        return self.total

    def aggregate(self, key: str) -> Floats:
        """Values of an aggregate metric, shape (R,)."""
        return self.suite.aggregate[key].value

    def causes(self, key: str) -> Causes:
        """Why values of an aggregate metric are undefined."""
        return self.suite.aggregate[key].causes

    @cached_property
    def causes_of_recall(self) -> Causes:
        """Why the recall of a class, or the accuracy elsewhere, is undefined, (R, K)."""
        has_others = self.others.cases > 0
        return first_cause(
            cause(Reason.NO_ACTUAL_POSITIVES, ~self.has_samples),
            cause(Reason.NO_ACTUAL_NEGATIVES, ~has_others),
        )

    def per_class(self, key: str) -> Floats:
        """Values of a per-class metric, shape (R, K)."""
        return self.suite.per_class[key].value

    def is_minority(self, share: float) -> Flags:
        """Classes with samples, but at most `share` as many as the largest class, (R, K)."""
        largest = self.actual.max(axis=CLASS_AXIS)
        return self.has_samples & (self.actual <= share * per_run(largest))


@dataclass(frozen=True)
class LabelSubjects(Subjects):
    """The labels of one run in place of its classes: on axis 1, `counts` holds how often each
    label was found, was present, and was predicted, shape (1, 3, q)."""

    n_samples: int = field(kw_only=True)

    @classmethod
    def of(cls, found: CountedSets) -> LabelSubjects:
        """The run with these counts."""
        tables: NDArray[np.int64] = np.stack([found.correct, found.actual, found.predicted])
        return cls(tables[np.newaxis], found.labels.names, n_samples=found.total)

    @cached_property
    def correct(self) -> Floats:
        return self.counts[:, 0].astype(np.float64)

    @cached_property
    def actual(self) -> Floats:
        return self.counts[:, 1].astype(np.float64)

    @cached_property
    def predicted(self) -> Floats:
        return self.counts[:, 2].astype(np.float64)

    @cached_property
    def is_assessable(self) -> Flags:
        """Whether there are samples; a label is compared with all occurrences of others."""
        return np.array([self.n_samples > 0])


def per_run(values: NDArray[np.float64]) -> Floats:
    """Values of runs (R,) as shape (R, 1), to be combined with values of classes."""
    return values[:, np.newaxis]


def of_class(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """From values (R, K), the one of the class with each code (R,), shape (R,)."""
    return np.take_along_axis(values, codes[:, np.newaxis], axis=CLASS_AXIS)[:, 0]


_COMPARE: dict[Sign, Callable[[Any, Any], Any]] = {
    Sign.AT_LEAST: np.greater_equal,
    Sign.ABOVE: np.greater,
    Sign.AT_MOST: np.less_equal,
    Sign.BELOW: np.less,
    Sign.EQUAL: np.equal,
}
_INCLUSIVE = frozenset({Sign.AT_LEAST, Sign.AT_MOST, Sign.EQUAL})


@dataclass(frozen=True)
class Comparison:
    """Measured values beside thresholds, arrays that broadcast to (R,) or (R, K).

    `causes` say why values are undefined; None if that is not known.
    """

    what: str
    measured: Floats
    sign: Sign
    threshold: Floats
    holds: Flags
    causes: Causes = None

    def at(self, place: tuple[int, ...], shape: tuple[int, ...]) -> Condition:
        """The comparison for one run, or one class of it, in a judgement of this shape."""
        measured = float(np.broadcast_to(self.measured, shape)[place])
        is_undefined = bool(np.isnan(measured))
        return Condition(
            what=self.what,
            measured=None if is_undefined else measured,
            sign=self.sign,
            threshold=float(np.broadcast_to(self.threshold, shape)[place]),
            holds=bool(np.broadcast_to(self.holds, shape)[place]),
            reason=reason_at(self.causes, place, shape) if is_undefined else None,
        )


@dataclass(frozen=True)
class RuleEvaluation:
    """Where a rule fires, (R,) or (R, K), with the rank of its severity there."""

    fires: Flags
    severity: NDArray[np.int64]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class RunRule:
    """A rule about a run that needs nothing but the confusion matrix.

    `judge` gives a judgement of shape (R,) for a stack; `describe` puts the case of the only
    run of a stack of one into words. `uses` names the thresholds that decide. `size` is the
    number of samples that the rule looks at, or the effective size, of the same shape.
    """

    id: str
    judge: Callable[[Subjects, Thresholds], RuleEvaluation]
    describe: Callable[[Subjects, Thresholds], tuple[str, Evidence]]
    uses: tuple[str, ...] = ()
    size: Callable[[Subjects], Floats] = lambda s: s.size


@dataclass(frozen=True)
class ClassRule:
    """A rule about each class, like `RunRule` but with judgements of shape (R, K).

    `describe` is called for one class, by its code.
    """

    id: str
    judge: Callable[[Subjects, Thresholds], RuleEvaluation]
    describe: Callable[[Subjects, int, Thresholds], tuple[str, Evidence]]
    uses: tuple[str, ...] = ()
    size: Callable[[Subjects], Floats] = lambda s: s.recalls.cases


def compare(
    what: str,
    measured: ArrayLike,
    sign: Sign,
    threshold: ArrayLike,
    *,
    undefined_holds: bool = False,
    causes: Causes = None,
) -> Comparison:
    """Compare element by element; an undefined value counts as `undefined_holds` says.

    `causes` are the reasons of undefined values.

    Values within rounding of the threshold count as equal to it: 1 - 0.8 is a gap of 0.2,
    although the floats say 0.19999999999999996.
    """
    values = np.asarray(measured, np.float64)
    limits = np.asarray(threshold, np.float64)
    with np.errstate(invalid="ignore"):
        is_equal = np.isclose(values, limits, rtol=ROUNDING, atol=ROUNDING)
        holds = np.asarray(_COMPARE[sign](values, limits))
    holds = (holds | is_equal) if sign in _INCLUSIVE else (holds & ~is_equal)
    holds = np.where(np.isnan(values), undefined_holds, holds)
    return Comparison(what, values, sign, limits, holds, causes)


def all_of(*comparisons: Comparison) -> Flags:
    """Where every comparison holds."""
    holds = comparisons[0].holds
    for comparison in comparisons[1:]:
        holds = holds & comparison.holds
    return holds


def graded(fires: Flags, mild: Severity, grave: Severity, is_grave: Flags) -> NDArray[np.int64]:
    """Ranks of severity: grave where `is_grave`, mild elsewhere."""
    return np.where(np.broadcast_to(is_grave, fires.shape), grave.rank, mild.rank).astype(np.int64)


def constant(fires: Flags, severity: Severity) -> NDArray[np.int64]:
    """The same rank of severity everywhere."""
    return np.full(fires.shape, SEVERITIES.index(severity), np.int64)


FAIR_COIN = 0.5


def at_most(hits: ArrayLike, cases: ArrayLike, probability: ArrayLike) -> Floats:
    """P(X <= hits) for X ~ Bin(samples, probability); arrays broadcast, NaN stays NaN."""
    with optional:
        from scipy.special import betainc

    x, n, p = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (hits, cases, probability)))
    is_certain = x >= n
    tail = betainc(np.where(is_certain, 1.0, n - x), x + 1.0, 1.0 - p)
    return np.where(np.isnan(p), np.nan, np.where(is_certain, 1.0, tail))


def at_least(hits: ArrayLike, cases: ArrayLike, probability: ArrayLike) -> Floats:
    """P(X >= hits) for X ~ Bin(samples, probability); arrays broadcast, NaN stays NaN."""
    with optional:
        from scipy.special import betainc

    x, n, p = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (hits, cases, probability)))
    is_certain = x <= 0
    tail = betainc(np.where(is_certain, 1.0, x), n - x + 1.0, p)
    return np.where(np.isnan(p), np.nan, np.where(is_certain, 1.0, tail))
