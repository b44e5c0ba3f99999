"""What a rule says about a stack of matrices: where it fires, and by which comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.flags.severity import SEVERITIES, Severity
from offdiag.flags.subjects import Flags, Floats, Subjects
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Evidence, Sign

_COMPARE: dict[Sign, Callable[[Any, Any], Any]] = {
    Sign.AT_LEAST: np.greater_equal,
    Sign.ABOVE: np.greater,
    Sign.AT_MOST: np.less_equal,
    Sign.BELOW: np.less,
    Sign.EQUAL: np.equal,
}
_INCLUSIVE = frozenset({Sign.AT_LEAST, Sign.AT_MOST, Sign.EQUAL})
ROUNDING = 1e-12
"""Differences of this size are the rounding of float64, not of anything measured."""


@dataclass(frozen=True)
class Comparison:
    """Measured values beside thresholds, arrays that broadcast to (R,) or (R, K)."""

    what: str
    measured: Floats
    sign: Sign
    threshold: Floats
    holds: Flags

    def at(self, place: tuple[int, ...], shape: tuple[int, ...]) -> Condition:
        """The comparison for one run, or one class of it, of a judgement of this shape."""
        measured = float(np.broadcast_to(self.measured, shape)[place])
        return Condition(
            what=self.what,
            measured=None if np.isnan(measured) else measured,
            sign=self.sign,
            threshold=float(np.broadcast_to(self.threshold, shape)[place]),
            holds=bool(np.broadcast_to(self.holds, shape)[place]),
        )


@dataclass(frozen=True)
class Judgement:
    """Where a rule fires, (R,) or (R, K), with the rank of its severity there."""

    fires: Flags
    severity: NDArray[np.int64]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class RunRule:
    """A rule about a run that needs nothing but the confusion matrix.

    `judge` gives a judgement of shape (R,) for a stack; `describe` puts the case of the only
    run of a stack of one into words. `uses` names the thresholds that decide.
    """

    id: str
    judge: Callable[[Subjects, Thresholds], Judgement]
    describe: Callable[[Subjects, Thresholds], tuple[str, Evidence]]
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassRule:
    """A rule about each class: the same with judgements of shape (R, K).

    `describe` is asked about one class, by its code.
    """

    id: str
    judge: Callable[[Subjects, Thresholds], Judgement]
    describe: Callable[[Subjects, int, Thresholds], tuple[str, Evidence]]
    uses: tuple[str, ...] = ()


def compare(
    what: str,
    measured: ArrayLike,
    sign: Sign,
    threshold: ArrayLike,
    *,
    undefined_holds: bool = False,
) -> Comparison:
    """Compare element by element; an undefined value counts as `undefined_holds` says.

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
    return Comparison(what, values, sign, limits, holds)


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
    """The same rank everywhere."""
    return np.full(fires.shape, SEVERITIES.index(severity), np.int64)
