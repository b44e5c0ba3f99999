"""Cases counted by what they cost, which is all that their mean cost depends on.

A matrix has K times K cells and often a handful of prices. Cells with the same price may be
drawn as one: the sum of multinomial counts is multinomial. Resampling these few numbers gives
the mean cost the same law as resampling the matrix, ten to a hundred times as fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.gradients import Floats
from offdiag.metrics.intervals.resampling import batches, generator, resampled_counts

Counts = NDArray[np.int64]

GROUP_AXIS = 1
"""Axis of resampled counts (replicates, groups) along which prices differ."""


@dataclass(frozen=True)
class PricedCases:
    """Groups of cases with one price: `costs` rising, and how many cases there are of each.

    At a declared prevalence cases count by their class, so each class has groups of its own and
    `actual` names it; else it is all zeros. All arrays have shape (m,), counts are positive.
    """

    actual: Counts
    costs: Floats
    counts: Counts
    prevalence: Floats | None

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def negated(self) -> PricedCases:
        """The same cases if they earned what they cost."""
        return grouped(self.actual, -self.costs, self.counts, prevalence=self.prevalence)

    def means(self, counts: NDArray[np.int64]) -> Floats:
        """Mean cost for stacked counts (b, m), shape (b,).

        NaN where a class that is expected to occur has no cases.
        """
        priced = counts * self.costs
        if self.prevalence is None:
            return np.asarray(priced.sum(axis=GROUP_AXIS) / counts.sum(axis=GROUP_AXIS))
        means = np.zeros(len(counts))
        for code in np.flatnonzero(self.prevalence > 0):
            of_class = self.actual == code
            cases = counts[:, of_class].sum(axis=GROUP_AXIS)
            total = priced[:, of_class].sum(axis=GROUP_AXIS)
            undefined = np.full(len(counts), np.nan)
            mean = np.divide(total, cases, out=undefined, where=cases > 0)
            means += self.prevalence[code] * mean
        return means

    def resampled_means(self, *, seed: int, replicates: int) -> Floats:
        """Mean cost of resamples of at least one case, shape (replicates,)."""
        rng = generator(seed)
        means = np.empty(replicates)
        for part in batches(replicates, n_cells=len(self.counts)):
            size = part.stop - part.start
            means[part] = self.means(resampled_counts(self.counts, replicates=size, rng=rng))
        return means


def grouped(
    actual: Counts, costs: Floats, counts: Counts, *, prevalence: Floats | None
) -> PricedCases:
    """Put cases of one class and price together; those without any are left out."""
    occupied = counts > 0
    classes = np.zeros_like(actual) if prevalence is None else actual
    classes, prices, counts = classes[occupied], costs[occupied] + 0.0, counts[occupied]
    order = np.lexsort((prices, classes))
    classes, prices, counts = classes[order], prices[order], counts[order]
    is_first = np.ones(len(counts), np.bool_)
    is_first[1:] = (classes[1:] != classes[:-1]) | (prices[1:] != prices[:-1])
    starts = np.flatnonzero(is_first)
    sums = np.add.reduceat(counts, starts) if len(counts) else counts
    return PricedCases(classes[starts], prices[starts], sums, prevalence)
