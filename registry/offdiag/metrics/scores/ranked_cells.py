"""Scores of an event counted in cells, read as a ranking with bounded error.

Counts at the borders of cells are exact, but the order within a cell is unknown. With g positive
and m negative samples in a cell of several scores, out of P and M,

* an area counts half of its pairs, so all cells together are off by at most sum g m / (2 P M);
* average precision treats them as evenly mixed. With H positive of R samples above, the i-th
  positive one has a precision from (H + i) / (R + m + i), behind all negative ones, to
  (H + g) / (R + g), all positive ones tied before them;
* a Kolmogorov-Smirnov gap d at the lower border is at most d + g / P or m / M - d in the cell;
* a border of calibration bins within the cell moves samples, each by |p - y|.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.scores.ranking import RankedScores, RankSums, ScoreBlock

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RankedCells:
    """m disjoint cells of scores of an event, ascending, all arrays of shape (m,).

    `low` and `high` are the smallest and the largest score. `positive` and `negative` count the
    samples, at least one per cell in all; `score_sum` adds their scores, and `residual` their
    distances from 1 if the event happened, else from 0. Borders of bins are compared in
    `score_type`.
    """

    low: Floats
    high: Floats
    positive: Counts
    negative: Counts
    score_sum: Floats
    residual: Floats
    score_type: type[np.floating[Any]] = field(default=np.float32, kw_only=True)

    @cached_property
    def n_positive(self) -> int:
        return int(self.positive.sum())

    @cached_property
    def n_negative(self) -> int:
        return int(self.negative.sum())

    @property
    def n_samples(self) -> int:
        return self.n_positive + self.n_negative

    @cached_property
    def samples_below(self) -> Counts:
        """For each cell, the samples in lower cells, then all samples; (m + 1,)."""
        return np.append(0, np.cumsum(self.positive + self.negative)).astype(np.int64)

    @property
    def values(self) -> Floats:
        """The mean score of each cell."""
        return np.asarray(self.score_sum / (self.positive + self.negative))

    @property
    def above_all(self) -> float:
        """The next number above the largest score in its type."""
        return float(np.nextafter(self.score_type(self.high[-1]), self.score_type(np.inf)))

    def blocks(self) -> Iterator[ScoreBlock]:
        """All cells in one block, each with its smallest score: the threshold that reports it."""
        if len(self.low):
            yield ScoreBlock(self.low, self.positive, self.negative, 0, 0)

    def at(self, places: NDArray[np.intp]) -> Floats:
        """The smallest score of the cells at positions among the sorted samples."""
        return self.low[np.searchsorted(self.samples_below, places, side="right") - 1]

    def end_of_ties(self, place: int) -> int:
        """The first border of a cell at or after `place` (0 to n)."""
        return int(self.samples_below[np.searchsorted(self.samples_below, place)])

    def samples_below_each(self, scores: NDArray[Any]) -> NDArray[np.intp]:
        """How many samples are in cells that begin below each of the given scores."""
        wanted = scores.astype(self.score_type).astype(np.float64)
        return self.samples_below[np.searchsorted(self.low, wanted, side="left")].astype(np.intp)

    def positives_between(self, places: NDArray[np.intp]) -> Counts:
        """Positive samples between consecutive places, which ascend and are borders of cells."""
        return np.diff(np.append(0, np.cumsum(self.positive))[self._cells_at(places)])

    def score_sums(self, places: NDArray[np.intp]) -> Floats:
        """Sums of the scores between consecutive places, as in `positives_between`."""
        return np.diff(np.append(0.0, np.cumsum(self.score_sum))[self._cells_at(places)])

    def _cells_at(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.searchsorted(self.samples_below, places)

    def mirrored(self) -> RankedCells:
        """The scores of the opposite event: negated, with outcomes exchanged."""
        turned = self._backwards()
        return replace(turned, low=-turned.low, high=-turned.high, score_sum=-turned.score_sum)

    def complement(self) -> RankedCells:
        """The opposite event, with 1 - p for each probability p."""
        turned = self._backwards()
        n_samples = turned.positive + turned.negative
        return replace(
            turned,
            low=1 - turned.low,
            high=1 - turned.high,
            score_sum=n_samples - turned.score_sum,
            score_type=np.float64,
        )

    def _backwards(self) -> RankedCells:
        back = slice(None, None, -1)
        return RankedCells(
            self.high[back],
            self.low[back],
            self.negative[back],
            self.positive[back],
            self.score_sum[back],
            self.residual[back],
            score_type=self.score_type,
        )

    def in_order(self) -> RankedCells:
        """The same cells in ascending order, with overlapping cells merged."""
        order = np.lexsort((self.high, self.low))
        low, high = self.low[order], self.high[order]
        reach = np.maximum.accumulate(high)
        starts = np.flatnonzero(np.append(True, low[1:] > reach[:-1]))[: len(low)]
        if not len(low):
            return self
        sums = [
            np.add.reduceat(values[order], starts)
            for values in (self.positive, self.negative, self.score_sum, self.residual)
        ]
        ends = np.maximum.reduceat(high, starts)
        return RankedCells(low[starts], ends, *sums, score_type=self.score_type)

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """Whether a cell has several scores, whose order is unknown, (m,)."""
        return self.low < self.high

    @cached_property
    def sums(self) -> RankSums:
        """Sums over cells, with half of the pairs in a cell won and its samples evenly mixed."""
        # Products of counts can exceed 64 bits; Python's integers can hold them.
        positive, negative = self.positive.astype(object), self.negative.astype(object)
        negatives_below = np.cumsum(negative) - negative
        precision = np.where(self.is_open, self._precision_sums("mixed"), self._tied_precision)
        return RankSums(
            doubled_wins=int(np.dot(positive, 2 * negatives_below + negative)),
            precision_sum=float(precision.sum()),
            largest_gap=int(np.abs(self._gaps).max()),
            n_distinct=len(self.low),
        )

    @cached_property
    def _gaps(self) -> NDArray[Any]:
        """Positives below each cell times M, less negatives below it times P; (m,), exact."""
        positive, negative = self.positive.astype(object), self.negative.astype(object)
        positives_below = np.cumsum(positive) - positive
        negatives_below = np.cumsum(negative) - negative
        return np.asarray(positives_below * self.n_negative - negatives_below * self.n_positive)

    @cached_property
    def area_error(self) -> float:
        """The most by which `roc_auc` may be off."""
        within = self.positive.astype(np.float64) * self.negative
        return float(within[self.is_open].sum()) / (2.0 * self.n_positive * self.n_negative)

    @cached_property
    def gap_error(self) -> float:
        """The most by which `ks`, at least its value at the borders, may be off."""
        pairs = float(self.n_positive) * self.n_negative
        gap = self._gaps.astype(np.float64) / pairs
        rise = self.positive / self.n_positive
        fall = self.negative / self.n_negative
        reach = np.maximum(np.abs(gap + rise), np.abs(gap - fall))[self.is_open]
        return max(float(reach.max(initial=0.0)) - self.sums.largest_gap / pairs, 0.0)

    @cached_property
    def precision_error(self) -> float:
        """The most by which `average_precision` may be off."""
        hits, reported = self._above
        positive = self.positive.astype(np.float64)
        highest = positive * (hits + positive) / np.maximum(reported + positive, 1)
        most, least, mixed = (
            float(values[self.is_open].sum())
            for values in (highest, self._precision_sums("last"), self._precision_sums("mixed"))
        )
        return max(most - mixed, mixed - least, 0.0) / self.n_positive

    @property
    def _above(self) -> tuple[Floats, Floats]:
        """Positive samples in higher cells, and all samples there, both (m,)."""
        positive, size = self.positive, self.positive + self.negative
        return (
            (self.n_positive - np.cumsum(positive)).astype(np.float64),
            (self.n_samples - np.cumsum(size)).astype(np.float64),
        )

    @property
    def _tied_precision(self) -> Floats:
        hits, reported = self._above
        total = reported + self.positive + self.negative
        return np.asarray(self.positive * (hits + self.positive) / total)

    def _precision_sums(self, order: str) -> Floats:
        """Precisions at the positive samples of each cell, added up, (m,).

        The negative samples are mixed in evenly, or with "last" come before the positive ones.
        The i-th is (H + i) / (B + s i) = 1/s + (H - B/s) / (B + s i), summed by digamma.
        """
        with optional:
            from scipy.special import digamma

        hits, base = self._above
        g, m = self.positive.astype(np.float64), self.negative.astype(np.float64)
        step = 1 + m / (g + 1) if order == "mixed" else np.ones(len(g))
        if order == "last":
            base = base + m
        start = base / step
        inverse = digamma(start + g + 1) - digamma(start + 1)
        return np.asarray((g + (hits - start) * inverse) / step)

    def expected_error(self, bins: NDArray[np.intp]) -> float:
        """The most by which a mean gap over bins may be off; `bins` as in `cut_by_scores`."""
        moved = self._cut(bins)
        return 2 * float(self.residual[moved].sum()) / self.n_samples

    def largest_error(self, bins: NDArray[np.intp], count: Counts) -> float:
        """The most by which the largest gap over bins of `count` samples (B,) may be off."""
        moved = self._cut(bins)
        if not len(moved):
            return 0.0
        size = (self.positive + self.negative)[moved]
        # Whatever a bin loses or gains is in the cells that borders cut.
        certain = count - int(size.sum())
        if (certain <= 0)[count > 0].any():
            return 1.0
        open_sum = float(size.sum() + self.residual[moved].sum())
        return min(open_sum / float(certain[count > 0].min()), 1.0)

    def _cut(self, cells: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of the given cells that have several scores; -1 stands for no cell."""
        found = cells[cells >= 0]
        return found[self.is_open[found]]

    def cut_by_scores(self, edges: Floats) -> NDArray[np.intp]:
        """The cell that each of the given borders cuts, -1 if it cuts none."""
        wanted = edges.astype(self.score_type).astype(np.float64)
        cell = np.searchsorted(self.low, wanted, side="left") - 1
        inside = (cell >= 0) & (wanted <= self.high[cell])
        return np.where(inside, cell, -1)

    def cut_by_places(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """The cell that each position among the sorted samples cuts, -1 if it cuts none."""
        cell = np.searchsorted(self.samples_below, places, side="right") - 1
        is_border = self.samples_below[cell] == places
        return np.where(is_border, -1, cell)


Ranking: TypeAlias = RankedScores | RankedCells
"""Scores of an event in order, one by one or counted in cells."""
