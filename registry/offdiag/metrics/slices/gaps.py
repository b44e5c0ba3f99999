"""How far samples of a slice differ from other samples, and the p value of the difference.

A proportion (accuracy, recall) is compared by Fisher's exact test with mid-p, doubled to both
sides (Lancaster 1961, J. Am. Stat. Assoc. 56, 223), and its difference has Newcombe's score
interval (1998, Statistics in Medicine 17, 873, method 10). Averages over classes are compared by
their slopes: given the actual classes, the statistic is how far the predictions of both groups
move the metric beyond what the profile of all samples predicts, over its standard error (a score
test), or the difference of the metric over it, whichever is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.aggregates.classified import Classified
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.proportions import wilson_of_sizes
from offdiag.metrics.paired.simultaneous_tests import smaller_statistic
from offdiag.metrics.tally import Tally, no_cells, over_classes

Floats = NDArray[np.float64]
Numbers = NDArray[Any]
"""Whole numbers, of any type."""
FEWEST_OF_A_CLASS = 5
"""Samples of each class below which averages over classes are not compared."""
_NEGLIGIBLE = 1e-12
_CLASS_AXIS = -1


def exact_p(hits: Floats, cases: Floats, other_hits: Floats, other_cases: Floats) -> Floats:
    """Two-sided mid-p of equal proportions, arrays of one shape; 1 if a group is empty.

    Given the total of hits, those of the first group are hypergeometric. The other tail is the
    rest.
    """
    total, all_hits = cases + other_cases, hits + other_hits
    below = hits * total <= all_hits * cases
    # Mirrored, the smaller tail is always the lower one.
    x = np.where(below, hits, cases - hits)
    m = np.where(below, all_hits, total - all_hits)
    term, tail = lower_tail(x, cases, m, total)
    tail -= term / 2
    return np.where((cases > 0) & (other_cases > 0), 2 * np.minimum(tail, 1 - tail), 1.0)


def lower_tail(x: Numbers, cases: Numbers, hits: Numbers, total: Numbers) -> tuple[Floats, Floats]:
    """P of `x` hits, and of `x` or fewer, among `cases` of `total` that have `hits` in all.

    Added up outwards from `x`, which must be below expectation, until terms are negligible.
    """
    with optional:
        from scipy.special import gammaln

    def chosen(n: Numbers, k: Numbers) -> Floats:
        found: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        return found

    with np.errstate(invalid="ignore"):
        start = chosen(hits, x) + chosen(total - hits, cases - x) - chosen(total, cases)
    first: Floats = np.exp(start)
    term, tail, k = first, first.copy(), np.array(x, np.float64)
    running = term > 0
    while running.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = k * (total - hits - cases + k) / ((hits - k + 1) * (cases - k + 1))
        term = np.where(running & (k > 0), term * ratio, 0.0)
        tail += term
        k -= 1
        running = term > _NEGLIGIBLE * tail
    return first, tail


def difference_interval(
    hits: Floats, cases: Floats, other_hits: Floats, other_cases: Floats, *, confidence: float
) -> Bounds:
    """Newcombe's interval of the first proportion less the second; NaN if a group is empty."""
    one = wilson_of_sizes(hits, cases, confidence=confidence)
    other = wilson_of_sizes(other_hits, other_cases, confidence=confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = hits / cases, other_hits / other_cases
    return Bounds(
        p - q - np.sqrt((p - one.low) ** 2 + (other.high - q) ** 2),
        p - q + np.sqrt((one.high - p) ** 2 + (q - other.low) ** 2),
    )


@dataclass(frozen=True, eq=False)
class Margins:
    """Actual, predicted and correct samples of each class (S, K) of S groups.

    With weights they are sums of weights; then `samples` are the actual samples of each class, and
    `squares` the sums of their squared weights.
    """

    actual: Floats
    predicted: Floats
    correct: Floats
    samples: Floats | None = None
    squares: Floats | None = None

    @cached_property
    def n(self) -> Floats:
        """Samples of each group, with an axis of length 1 for the class."""
        return np.asarray(over_classes(self.actual))[..., np.newaxis]

    @cached_property
    def hits(self) -> Floats:
        return np.asarray(over_classes(self.correct))[..., np.newaxis]

    @cached_property
    def chance(self) -> Floats:
        return np.asarray(over_classes(self.actual * self.predicted))[..., np.newaxis]

    def values(self, key: str) -> Floats:
        """A metric of each group that depends only on margins and diagonal, NaN if undefined."""
        parts = (self.actual, self.predicted, self.correct)
        tally = Tally(
            no_cells(self.actual), *parts, self.n[..., 0], unit=1, ordinal=False, weighted=False
        )
        return Classified(tally, AGGREGATES).aggregate[key].value


def _balanced_accuracy(m: Margins) -> tuple[Floats, Floats]:
    n_occurring = (m.actual > 0).sum(axis=_CLASS_AXIS, keepdims=True)
    return 1 / (m.actual * n_occurring), np.zeros_like(m.actual)


def _macro_f1(m: Margins) -> tuple[Floats, Floats]:
    both, k = m.actual + m.predicted, m.actual.shape[-1]
    return (2 / both - 2 * m.correct / both**2) / k, -2 * m.correct / both**2 / k


def _mcc(m: Margins) -> tuple[Floats, Floats]:
    e = m.n**2 - (m.predicted**2).sum(axis=_CLASS_AXIS, keepdims=True)
    q = m.n**2 - (m.actual**2).sum(axis=_CLASS_AXIS, keepdims=True)
    bent = (m.hits * m.n - m.chance) * m.predicted / e
    return (m.n - m.actual + bent) / np.sqrt(e * q), (bent - m.actual) / np.sqrt(e * q)


def _kappa(m: Margins) -> tuple[Floats, Floats]:
    room = m.n**2 - m.chance
    bent = (m.hits * m.n - m.chance) * m.actual / room**2
    return (m.n - m.actual) / room + bent, -m.actual / room + bent


SLOPES: MappingProxyType[str, Callable[[Margins], tuple[Floats, Floats]]] = MappingProxyType(
    {
        "balanced_accuracy": _balanced_accuracy,
        "macro_f1": _macro_f1,
        "mcc": _mcc,
        "cohen_kappa": _kappa,
    }
)
"""How far one more sample predicted as class a moves a metric: if a is right, and if not.

Up to a constant of the actual class, which cancels in the comparison given the actual classes."""


def aggregate_statistic(key: str, one: Margins, other: Margins, errors: Floats) -> Floats:
    """The statistic of a metric of each group less that of the other, (S,); NaN if there is none.

    `errors` (K, K) is the share of each prediction among the errors of an actual class, 0 on the
    diagonal. It is standard normal if the predictions of both groups follow one profile: the
    recall of each class in both together, and these errors.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = np.nan_to_num((one.correct + other.correct) / (one.actual + other.actual))
        linear, variance = _linear_part(key, one, recall, errors)
        other_linear, other_variance = _linear_part(key, other, recall, errors)
        found = smaller_statistic(
            one.values(key) - other.values(key),
            linear - other_linear,
            np.sqrt(variance + other_variance),
        )
    sizes = (each.actual if each.samples is None else each.samples for each in (one, other))
    enough = np.minimum(*sizes) >= FEWEST_OF_A_CLASS
    occurs = one.actual + other.actual > 0
    return np.where((enough | ~occurs).all(axis=_CLASS_AXIS), found, np.nan)


def _linear_part(
    key: str, group: Margins, recall: Floats, errors: Floats
) -> tuple[Floats, Floats]:
    """How far the predictions of a group move the metric beyond a profile, and its variance."""
    right = group.actual * recall
    expected = Margins(group.actual, right + (group.actual - right) @ errors, right)
    # Classes that do not occur have unbounded slopes, but nothing to multiply them by.
    if_right, if_wrong = (np.where(np.isfinite(s), s, 0.0) for s in SLOPES[key](expected))
    mean = recall * if_right + (1 - recall) * _expected(if_wrong, errors)
    square = recall * if_right**2 + (1 - recall) * _expected(if_wrong**2, errors)
    moved = (group.predicted - group.correct) * if_wrong + group.correct * if_right
    linear = (moved - group.actual * mean).sum(axis=_CLASS_AXIS)
    units = group.actual if group.squares is None else group.squares
    variance = (units * (square - mean**2)).sum(axis=_CLASS_AXIS)
    return linear, np.maximum(variance, 0.0)


def _expected(slopes: Floats, errors: Floats) -> Floats:
    """The mean slope (..., K) of an error on each actual class, by its shares of errors (K, K)."""
    return np.asarray(np.einsum("...p,ap->...a", slopes, errors, optimize=True))


def normal_p(statistic: Any) -> Floats:
    """Two-sided p of a standard normal statistic, 1 where there is none."""
    with optional:
        from scipy.special import erfc

    found: Floats = erfc(np.abs(np.nan_to_num(statistic)) / np.sqrt(2))
    return found
