"""Which classes change between two runs, with one error level for all classes together.

Recall uses McNemar's mid-p within each class (Fagerland, Lydersen and Laake 2013, BMC Med. Res.
Methodol. 13, 91), precision and F1 the normal p of their statistic at pooled slopes; Holm (1979,
Scand. J. Statist. 6, 65) adjusts over the classes, so that with two equally good runs the chance
of reporting any class stays below the level. The interval for a single class has the requested
confidence, the one for all classes together that of Bonferroni.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.gradients import Cells
from offdiag.metrics.intervals.bounds import Bounds, Intervals, flagged
from offdiag.metrics.intervals.delta import (
    NO_OWN_ERRORS,
    SidedErrors,
    class_gradients,
    range_of,
    sided_errors,
)
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired import proportions, simultaneous_tests
from offdiag.metrics.paired.hypothesis_tests import holm, mid_p_values
from offdiag.metrics.paired.joint_counts import JointCounts, PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.metrics.paired.simultaneous_tests import (
    moved_values,
    pooled_matrix,
    smaller_statistic,
)
from offdiag.metrics.paired.unseen_hits import unseen_of_classes

Floats = NDArray[np.float64]
Notes = dict[tuple[int, ...], str]

SLOPED = ("precision", "f1")
"""Per-class metrics whose denominator differs between the runs."""


@dataclass(frozen=True)
class ClassChanges:
    """A metric of each class, second run against first; all arrays have shape (K,).

    `p` belongs to a class alone, `p_adjusted` is Holm's over the `n_tested` classes; NaN for a
    class that is not tested. `alone` and `together` are the intervals of the difference.
    `is_changed` says that `p_adjusted` is below the level, and `together` is made to agree with
    it: for a class that changed, an end on the far side of 0 is moved back to 0, and for one that
    did not, an end that misses 0 is extended to 0.
    """

    p: Floats
    p_adjusted: Floats
    alone: Intervals
    together: Intervals
    is_changed: NDArray[np.bool_]
    n_tested: int
    confidence: float


def recall_changes(
    rates: PairedRates, *, confidence: float = 0.95, share: float = 1.0
) -> ClassChanges:
    """Changes of recall, from the samples of each class that only one run predicts correctly.

    Classes with samples are tested; intervals are Tango's. `share` is the part of the error rate
    that these tests may use if other tests use the rest. Raises `InvalidInput` for a confidence
    outside (0, 1).
    """
    level = confidence_level(confidence)
    together_level = 1 - (1 - level) * share
    is_tested = np.asarray(rates.cases > 0)
    p = np.where(is_tested, mid_p_values(rates.only_first, rates.only_second), np.nan)
    alone, together = (
        Intervals(paired_score_interval(rates, confidence=each), proportions.METHOD)
        for each in (level, confidence_together(together_level, int(is_tested.sum())))
    )
    sign = np.sign(rates.only_second - rates.only_first).astype(np.float64)
    return _agreeing(p, sign, alone, together, level, share=share)


def sloped_changes(
    joint: JointCounts, key: str, differences: Floats, *, confidence: float = 0.95
) -> ClassChanges:
    """Changes of a per-class metric whose `differences` (K,) are NaN where undefined.

    A class is tested if both runs have a value and at least one sample on which they differ
    matters to it. Raises `InvalidInput` for a confidence outside (0, 1).
    """
    linear, error = class_moves(joint, key)
    lowest, highest = range_of(key)
    return changes_by_slopes(
        differences,
        linear,
        error,
        joint.first_matrix.actual,
        "class",
        own=own_class_errors(joint, key),
        largest=highest - lowest,
        confidence=confidence,
    )


def changes_by_slopes(
    differences: Floats,
    linear: Floats,
    error: Floats,
    cases: NDArray[np.int64],
    what: str,
    *,
    own: SidedErrors = NO_OWN_ERRORS,
    largest: float = 1.0,
    confidence: float = 0.95,
) -> ClassChanges:
    """The changes from the linear parts of the differences and their errors, (K,) each.

    `own` are those by the slopes of each run at its own matrix, used where they are larger. No
    difference exceeds `largest`. Intervals of a class or label (as `what` says) are marked if it
    has few `cases` (K,).
    """
    with optional:
        from scipy.special import erfc

    level = confidence_level(confidence)
    near, far = own.around(differences)
    t = smaller_statistic(differences, linear, error, near)
    is_tested = np.isfinite(t) & (error > 0)
    p = np.where(is_tested, erfc(np.abs(t) / np.sqrt(2)), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(t == 0, np.fmax(error, near), np.abs(differences / t))
    # Where a difference and its linear part have opposite signs, the interval reaches to 0.
    least = np.where(t == 0, np.abs(differences), 0.0)

    def bounds(confidence: float) -> Bounds:
        z = normal_quantile(confidence)
        nearer = np.where(is_tested, np.maximum(z * spread, least), np.nan)
        farther = np.where(is_tested, np.fmax(nearer, z * far), np.nan)
        below, above = np.where(differences > 0, (nearer, farther), (farther, nearer))
        return Bounds(
            np.maximum(differences - below, -largest), np.minimum(differences + above, largest)
        )

    notes: Notes = {
        (int(code),): simultaneous_tests.NOTHING_COUNTS for code in np.flatnonzero(error == 0)
    }
    alone, together = (
        flagged(Intervals(bounds(each), simultaneous_tests.METHOD, notes), cases, what)
        for each in (level, confidence_together(level, int(is_tested.sum())))
    )
    return _agreeing(p, np.sign(differences), alone, together, level)


def class_moves(joint: JointCounts, key: str) -> tuple[Floats, Floats]:
    """Linear part of the difference of a per-class metric and its standard error, (K,) each.

    A sample moves only the classes that the two runs predict, each by what its hits or its
    false alarms are worth at the pooled matrix, so classes need no separate passes.
    """
    pooled = pooled_matrix((joint.first_matrix, joint.second_matrix))
    slopes = class_gradients(pooled, (key,))[key].slope
    return outcome_moves(slopes / max(joint.total, 1), joint.hits, joint.false_alarms)


def own_class_errors(joint: JointCounts, key: str) -> SidedErrors:
    """Errors of differences (K,) by the slopes of each run at its own matrix, and unseen hits."""
    matrices = joint.first_matrix, joint.second_matrix
    first, _ = matrices
    hits, alarms = joint.hits, joint.false_alarms
    both_hit = first.correct - hits.only_first
    both_alarm = first.predicted - first.correct - alarms.only_first
    counts = np.stack(
        [
            (hits.only_second, hits.only_first),
            (both_hit, hits.cases - first.correct - hits.only_second),
            (alarms.only_second, alarms.only_first),
            (both_alarm, alarms.cases - both_alarm - alarms.only_first - alarms.only_second),
        ]
    )
    n_samples = max(joint.total, 1)
    sums = (counts / n_samples**power for power in (1.0, 2.0, 3.0))
    found = errors_of_classes(matrices, key, *sums)
    return found.joined(unseen_of_classes(matrices, key, hits.cases))


KIND_AXIS, PAIR_AXIS = 0, 1
"""Axes of sums (4, 2, K): kinds of pairs, and two that change places if the runs do."""


def errors_of_classes(
    matrices: tuple[Cells, Cells], key: str, shares: Floats, squares: Floats, cubes: Floats
) -> SidedErrors:
    """The errors (K,) from the shares of samples by their outcomes under both runs, (4, 2, K).

    A sample moves the difference of a class by the slope of its outcome in the second run minus
    that in the first. Pairs of outcomes are, in order: a hit of the second run only and of the
    first only, of both and of neither, and false alarms likewise. `squares` and `cubes` add up
    those of the shares of single samples.
    """
    before, after = (class_gradients(matrix, (key,))[key].slope for matrix in matrices)
    with np.errstate(invalid="ignore"):
        moved = np.stack(
            [
                pair
                for yes, no in ((0, 1), (2, 3))
                for pair in (
                    (after[yes] - before[no], after[no] - before[yes]),
                    (after[yes] - before[yes], after[no] - before[no]),
                )
            ]
        )
        used = np.where(shares > 0, moved, 0.0)
        centred = used - _total(shares * used)
        return sided_errors(_total(squares * centred**2), _total(cubes * centred**3))


def _total(parts: Floats) -> Floats:
    # In this order, swapped runs have the same errors to the last bit.
    return np.asarray(parts.sum(axis=PAIR_AXIS).sum(axis=KIND_AXIS))


def outcome_moves(slopes: Floats, hits: PairedRates, alarms: PairedRates) -> tuple[Floats, Floats]:
    """The same, from the contributions of hit, miss, false alarm and rejection, slopes (4, K)."""
    with np.errstate(invalid="ignore"):
        hit, missed, alarm, rejected = slopes
        per_hit, per_alarm = moved_values(missed, hit), moved_values(rejected, alarm)
        linear = per_hit * (hits.only_second - hits.only_first)
        linear += per_alarm * (alarms.only_second - alarms.only_first)
        variance = per_hit**2 * (hits.only_second + hits.only_first)
        variance += per_alarm**2 * (alarms.only_second + alarms.only_first)
    return linear, np.sqrt(variance)


def confidence_together(confidence: float, n_tested: int) -> float:
    """The confidence each interval needs for all of them to hold together (Bonferroni)."""
    return 1 - (1 - confidence) / max(n_tested, 1)


def _agreeing(
    p: Floats,
    sign: Floats,
    alone: Intervals,
    together: Intervals,
    confidence: float,
    *,
    share: float = 1.0,
) -> ClassChanges:
    is_tested = ~np.isnan(p)
    adjusted = np.full(p.shape, np.nan)
    adjusted[is_tested] = np.minimum(holm(p[is_tested]) / share, 1.0)
    # Comparisons with NaN are false.
    is_changed = adjusted < 1 - confidence
    rises, falls = is_changed & (sign > 0), is_changed & (sign < 0)
    excluding, low, high = alone.bounds, together.bounds.low, together.bounds.high
    return ClassChanges(
        p,
        adjusted,
        replace(
            alone,
            bounds=Bounds(_at_least_0(excluding.low, rises), _at_most_0(excluding.high, falls)),
        ),
        replace(
            together,
            bounds=Bounds(
                np.where(is_changed, _at_least_0(low, rises), np.minimum(low, 0.0)),
                np.where(is_changed, _at_most_0(high, falls), np.maximum(high, 0.0)),
            ),
        ),
        is_changed,
        int(is_tested.sum()),
        confidence,
    )


def _at_least_0(ends: Floats, where: NDArray[np.bool_]) -> Floats:
    return np.where(where, np.maximum(ends, 0.0), ends)


def _at_most_0(ends: Floats, where: NDArray[np.bool_]) -> Floats:
    return np.where(where, np.minimum(ends, 0.0), ends)
