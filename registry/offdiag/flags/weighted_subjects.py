"""Weighted samples as the rules see them: values from sums of weights, tests on effective sizes.

A binomial test uses an effective size as the number of samples and the weighted share of it as
the hits; neither has to be whole (Korn and Graubard 1998, Survey Methodology 24, 193).
The size is that of the interval of the share or Kish's, whichever is smaller: the former is
unstable if one of few hits or misses has a small weight. With equal weights both equal the number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.rule_evaluation import Floats, LabelSubjects, Subjects, Trials, of_class
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.proportions import PER_CLASS, wilson_of_sizes
from offdiag.metrics.orientation import (
    STACK_ACTUAL_AXIS,
    STACK_PREDICTED_AXIS,
    actual_totals,
    predicted_totals,
)
from offdiag.metrics.tally import CLASS_AXIS
from offdiag.metrics.weighted.counts import WeightedCounts, kish
from offdiag.metrics.weighted.intervals import Sums, effective_proportion, effective_size, one_of

_ROUNDING = 1e-9
"""Sizes and hits this close to a whole number count as whole: sums of floats are not exact."""


@dataclass(frozen=True)
class WeightedSubjects(Subjects):
    """One run: `counts` (1, K, K) are sums of weights, `found` has their squares and numbers."""

    found: WeightedCounts = field(kw_only=True)

    @classmethod
    def of(cls, found: WeightedCounts) -> WeightedSubjects:
        """The run with these counts."""
        return cls(found.sums[np.newaxis], found.labels.names, found=found)

    @property
    def is_weighted(self) -> bool:
        return True

    @cached_property
    def numbers(self) -> Subjects:
        # Samples of weight 0 do not count.
        weighed = np.where(self.found.sums > 0, self.found.samples, 0)
        return Subjects(weighed[np.newaxis], self.names)

    @cached_property
    def recalls(self) -> Trials:
        return self._trials(lambda cells: Trials(_correct(cells), actual_totals(cells)))

    @cached_property
    def others(self) -> Trials:
        of_others = 1.0 - np.eye(len(self.names))
        return self._trials(
            lambda cells: Trials(_correct(cells) @ of_others, actual_totals(cells) @ of_others)
        )

    @cached_property
    def recall_bounds(self) -> Bounds:
        share, size = effective_proportion(self.found, PER_CLASS["recall"])
        return wilson_of_sizes((share * size)[np.newaxis], size[np.newaxis])

    @cached_property
    def precisions(self) -> Trials:
        return self._trials(lambda cells: Trials(_correct(cells), predicted_totals(cells)))

    @cached_property
    def misses(self) -> Trials:
        def of(cells: Floats) -> Trials:
            missed = actual_totals(_errors(cells))
            return Trials(missed, missed + predicted_totals(_errors(cells)))

        return self._trials(of)

    @cached_property
    def gains(self) -> Trials:
        answer = self.largest_class

        def of(cells: Floats) -> Trials:
            won = _without(_correct(cells), answer).sum(axis=CLASS_AXIS)
            return Trials(won, won + of_class(actual_totals(_errors(cells)), answer))

        return self._trials(of)

    @cached_property
    def n_of_others(self) -> Floats:
        answer = self.predicted.argmax(axis=CLASS_AXIS)
        sums, squares = (
            _without(actual_totals(cells), answer).sum(axis=CLASS_AXIS)
            for cells in (self.counts, self.squares)
        )
        return _whole(kish(sums, squares))

    @cached_property
    def size(self) -> Floats:
        return np.array([self.found.n_effective])

    @property
    def squares(self) -> Floats:
        return self.found.squares[np.newaxis]

    def _trials(self, of: Callable[[Floats], Trials]) -> Trials:
        """Effective samples, and hits by their share of the weight, from cells (1, K, K)."""
        sums, squares = of(self.counts), of(self.squares)
        hits = Sums(sums.hits, squares.hits)
        misses = Sums(sums.cases - sums.hits, squares.cases - squares.hits)
        one = one_of(Sums(sums.cases, squares.cases))
        of_share = effective_size(hits, misses, one, one)
        size = _whole(np.minimum(of_share, kish(sums.cases, squares.cases)))
        share = np.clip(sums.hits / np.where(sums.cases > 0, sums.cases, 1.0), 0.0, 1.0)
        return Trials(_whole(share * size), size)


def subjects_of(counted: Counted) -> Subjects:
    """One run as the rules see it: classes with or without weights, or labels of sets."""
    if isinstance(counted, WeightedCounts):
        return WeightedSubjects.of(counted)
    if isinstance(counted, CountedSets):
        return LabelSubjects.of(counted)
    return Subjects(counted.counts[np.newaxis], counted.labels.names)


# Errors are added up, never computed as a difference, so that their absence is exactly 0.


def _correct(cells: Floats) -> Floats:
    return np.diagonal(cells, axis1=STACK_ACTUAL_AXIS, axis2=STACK_PREDICTED_AXIS)


def _errors(cells: Floats) -> Floats:
    return np.where(np.eye(cells.shape[STACK_ACTUAL_AXIS], dtype=bool), 0.0, cells)


def _without(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """Values (R, K) with 0 in place of one class each."""
    is_left_out = np.arange(values.shape[CLASS_AXIS]) == codes[:, np.newaxis]
    return np.where(is_left_out, 0.0, values)


def _whole(values: NDArray[Any]) -> Floats:
    nearest = np.rint(values)
    return np.where(np.isclose(values, nearest, rtol=_ROUNDING, atol=_ROUNDING), nearest, values)
