"""The difference of two confusion matrices, cell by cell, with what is more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.paired.class_changes import confidence_together
from offdiag.metrics.paired.joint import JointCounts, PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CellDifferences:
    """The cells in which two runs differ, in label order; all arrays have shape (m,).

    `gained` counts cases of the second run minus those of the first; `share` is the difference
    of the shares of the actual class and lies between `low` and `high`, NaN where the class
    has no cases in a run. `is_certain` says that the interval that holds for all m cells together
    (Bonferroni) excludes 0.
    """

    actual: Ints
    predicted: Ints
    gained: Ints
    share: Floats
    low: Floats
    high: Floats
    is_certain: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.actual)

    @cached_property
    def is_better(self) -> NDArray[np.bool_]:
        """Whether more answers are right, or fewer are this error."""
        return np.asarray(np.where(self.actual == self.predicted, self.share, -self.share) > 0)

    @cached_property
    def is_worse(self) -> NDArray[np.bool_]:
        """Whether fewer answers are right, or more are this error."""
        return np.asarray(np.where(self.actual == self.predicted, self.share, -self.share) < 0)

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """Where a cell (actual code, predicted code) stands in the arrays."""
        pairs = zip(self.actual.tolist(), self.predicted.tolist(), strict=True)
        return {pair: place for place, pair in enumerate(pairs)}


def paired_cells(joint: JointCounts, *, confidence: float) -> CellDifferences:
    """Cells that at least one case is in under one run only, by the paired score interval."""
    moved = joint.first != joint.second
    counts = joint.counts[moved]
    touched, places = np.unique(
        np.concatenate([joint.first_cells[moved], joint.second_cells[moved]]),
        return_inverse=True,
    )
    left, entered = np.zeros((2, len(touched)), np.int64)
    np.add.at(left, places[: len(counts)], counts)
    np.add.at(entered, places[len(counts) :], counts)
    actual, predicted = np.divmod(touched, joint.n_classes)
    cases = joint.first_matrix.actual[actual]
    rates = PairedRates(left, entered, cases)
    alone, together = (
        paired_score_interval(rates, confidence=level)
        for level in (confidence, confidence_together(confidence, len(touched)))
    )
    gained = entered - left
    return CellDifferences(
        *(actual, predicted, gained, gained / cases, alone.low, alone.high),
        _excludes_0(together),
    )


def unpaired_cells(
    first: ConfusionMatrix, second: ConfusionMatrix, *, confidence: float
) -> CellDifferences:
    """Cells whose shares differ, by Wilson's intervals of both runs, squared and added.

    Newcombe 1998, Statistics in Medicine 17, 873-890, method 10.
    """
    occupied = np.flatnonzero((first.counts != 0) | (second.counts != 0))
    actual, predicted = np.divmod(occupied, first.n_classes)
    counts = [matrix.counts.ravel()[occupied] for matrix in (first, second)]
    cases = [matrix.actual[actual] for matrix in (first, second)]
    before, after = (_share(hits, of) for hits, of in zip(counts, cases, strict=True))
    share = after - before
    differs = (share != 0) | np.isnan(share)
    alone, together = (
        _squared_and_added(counts, cases, share, confidence=level)
        for level in (confidence, confidence_together(confidence, int(differs.sum())))
    )
    return CellDifferences(
        actual[differs],
        predicted[differs],
        (counts[1] - counts[0])[differs],
        share[differs],
        alone.low[differs],
        alone.high[differs],
        _excludes_0(together)[differs],
    )


def _squared_and_added(
    hits: list[Ints], cases: list[Ints], share: Floats, *, confidence: float
) -> Bounds:
    before, after = map(_share, hits, cases)
    old, new = (wilson(*side, confidence=confidence) for side in zip(hits, cases, strict=True))
    return Bounds(
        share - np.hypot(after - new.low, old.high - before),
        share + np.hypot(new.high - after, before - old.low),
    )


def _excludes_0(bounds: Bounds) -> NDArray[np.bool_]:
    return np.asarray((bounds.low > 0) | (bounds.high < 0))


def _share(hits: Ints, cases: Ints) -> Floats:
    return np.where(cases > 0, hits / np.maximum(cases, 1), np.nan)
