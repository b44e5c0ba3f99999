"""Tests of two runs on the same weighted samples: how much of a difference chance explains.

The statistics are those of `simultaneous_tests`, for weights: a sample moves a metric by its
slopes at the weights of both runs together times its share of the weight. Under "no difference"
the samples on which the runs differ are as likely to favour one as the other, so the variance is
the sum of the squares of these moves: that of a survey whose samples are drawn independently
(Binder 1983, International Statistical Review 51, 279). With equal weights it is the test for
counts. Exact tests do not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.gradients import Floats, Gradient
from offdiag.metrics.intervals.bounds import smallest_class
from offdiag.metrics.intervals.delta import (
    SidedErrors,
    aggregate_gradients,
    class_gradients,
    errors_of_moves,
)
from offdiag.metrics.paired.class_changes import errors_of_classes, outcome_moves
from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.paired.simultaneous_tests import (
    ROUNDING,
    JointTest,
    moved_values,
    own_moves,
    statistics_of,
    tested_statistics,
)
from offdiag.metrics.paired.unseen_hits import unseen_of_classes, with_unseen_hits
from offdiag.metrics.weighted.counts import WeightedCounts, WeightSums

Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class WeightedPair:
    """Codes of n labelled samples, the predictions of two runs, and the weights, all (n,)."""

    actual: Codes
    first: Codes
    second: Codes
    weight: Floats
    labels: LabelSet

    @cached_property
    def sides(self) -> tuple[WeightedCounts, WeightedCounts]:
        """The weighted counts of each run."""
        one, other = (
            WeightedCounts.of_samples(self.actual, predicted, self.weight, self.labels)
            for predicted in (self.first, self.second)
        )
        return one, other

    @property
    def weights(self) -> tuple[WeightSums, WeightSums]:
        """The sums of the weights of each run."""
        first, second = self.sides
        return first.weights, second.weights

    @cached_property
    def pooled(self) -> WeightedCounts:
        """Both runs together, at which slopes are evaluated."""
        return self.sides[0] + self.sides[1]

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    def outcomes(self, of: Floats) -> tuple[PairedRates, PairedRates]:
        """Sums of `of` (n,) where only one run has a hit, and where only one has a false alarm.

        By class, (K,): over the samples of the class, and over the others.
        """
        size = len(self.labels)

        def added(code: Codes, where: NDArray[np.bool_]) -> NDArray[Any]:
            return np.bincount(code[where], of[where], minlength=size)

        right = self.first == self.actual, self.second == self.actual
        cases: NDArray[Any] = np.bincount(self.actual, of, minlength=size)
        hits = PairedRates(
            added(self.actual, right[0] & ~right[1]),
            added(self.actual, right[1] & ~right[0]),
            cases,
        )
        differ = self.first != self.second
        alarms = PairedRates(
            added(self.first, ~right[0] & differ),
            added(self.second, ~right[1] & differ),
            cases.sum() - cases,
        )
        return hits, alarms

    def outcome_pairs(self, of: Floats) -> Floats:
        """Sums of `of` (n,) in the order of `errors_of_classes`, (4, 2, K)."""
        hits, alarms = self.outcomes(of)
        right = self.first == self.actual, self.second == self.actual
        size, alike = len(self.labels), self.first == self.second

        def added(where: NDArray[np.bool_]) -> NDArray[Any]:
            return np.bincount(self.first[where], of[where], minlength=size)

        both_wrong = ~right[0] & ~right[1]
        neither = np.bincount(self.actual[both_wrong], of[both_wrong], minlength=size)
        both_alarm = added(alike & ~right[0])
        rejected = alarms.cases - both_alarm - alarms.only_first - alarms.only_second
        rejected = np.where(rejected > ROUNDING * alarms.cases, rejected, 0.0)
        return np.stack(
            [
                (hits.only_second, hits.only_first),
                (added(right[0] & right[1]), neither),
                (alarms.only_second, alarms.only_first),
                (both_alarm, rejected),
            ]
        )


def judge_weighted_together(
    pair: WeightedPair,
    differences: Mapping[str, float],
    *,
    confidence: float = 0.95,
) -> JointTest:
    """Test aggregates of two runs together, as `judge_together` does for counts.

    `differences` are second minus first by key, NaN where undefined. Raises `InvalidInput` for a
    confidence outside (0, 1).
    """
    gradients = aggregate_gradients(pair.pooled.weights, differences, n_runs=2)
    moved = _moves(pair, gradients)
    with np.errstate(invalid="ignore"):
        linear = np.einsum("qn->q", moved)
        error = np.sqrt(np.einsum("qn,qn->q", moved, moved))
    own_errors = _own_errors(pair, gradients)
    statistics = statistics_of(differences, gradients, linear, error, own_errors)
    tested = tested_statistics(statistics)
    kept = moved[[place for place, key in enumerate(gradients) if key in tested]]
    sizes = pair.sides[0].class_sizes
    smallest = smallest_class(sizes) if sizes.any() else np.asarray(0)
    level = confidence_level(confidence)
    return JointTest(statistics, tested, np.inner(kept, kept), smallest, level)


def _moves(pair: WeightedPair, gradients: Mapping[str, Gradient]) -> Floats:
    """How far each sample on which the runs differ moves each metric, shape (Q, m)."""
    differs = (pair.first != pair.second) & (pair.weight > 0)
    actual, first, second = (
        codes[differs].astype(np.intp) for codes in (pair.actual, pair.first, pair.second)
    )
    share = pair.weight[differs] / pair.total
    found = np.empty((len(gradients), len(share)))
    with np.errstate(invalid="ignore", divide="ignore"):
        for row, gradient in zip(found, gradients.values(), strict=True):
            before, after = gradient.at(actual, first), gradient.at(actual, second)
            row[:] = moved_values(before, after) * share
    return found


def _own_errors(pair: WeightedPair, keys: Iterable[str]) -> dict[str, SidedErrors]:
    """Errors of differences by the slopes of each run at its own weights, shape ()."""
    first, second = (aggregate_gradients(each, keys) for each in pair.weights)
    codes = [each.astype(np.intp) for each in (pair.actual, pair.first, pair.second)]
    shares = pair.weight / pair.total
    errors = {
        key: errors_of_moves(moved, shares, shares)
        for key, moved in own_moves(codes, first, second).items()
    }
    sizes = pair.sides[0].class_sizes
    agree = pair.outcomes(pair.weight)[0].agree
    return with_unseen_hits(errors, pair.weights, (first, second), (sizes, sizes), agree)


def weighted_class_errors(pair: WeightedPair, key: str) -> SidedErrors:
    """Errors of differences by the slopes of each run at its own weights, (K,)."""
    share = pair.weight / pair.total
    sums = (pair.outcome_pairs(share**power) for power in (1, 2, 3))
    unseen = unseen_of_classes(pair.weights, key, pair.sides[0].class_sizes)
    return errors_of_classes(pair.weights, key, *sums).joined(unseen)


def weighted_class_moves(pair: WeightedPair, key: str) -> tuple[Floats, Floats]:
    """Linear part of the difference of a per-class metric and its standard error, (K,) each."""
    slopes = class_gradients(pair.pooled.weights, (key,))[key].slope / pair.total
    linear, _ = outcome_moves(slopes, *pair.outcomes(pair.weight))
    _, error = outcome_moves(slopes, *pair.outcomes(np.square(pair.weight)))
    return linear, error
