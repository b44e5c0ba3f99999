"""Probabilities counted in narrow cells of their logit, so that any number of scores can be added.

A cell holds the samples whose probability p of the positive class lies in one bin of
floor(256 logit p). Borders of calibration bins and tidy thresholds are borders of cells, and 0,
1/2 and 1 have cells of their own. A cell keeps its samples by outcome, the smallest and
the largest p, and sums; if both agree, the cell is one score and its samples are true ties.

The cells of one of several classes do not show which samples they share with those of another.
Metrics that need one class at a time follow from them (areas, losses, calibration of the largest
probability); metrics that compare the probabilities of one sample do not.

Counting is a sum over samples, so a database can do it where the scores are, and stored scores
are counted chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.scores.losses import CLIP, LossMoments, Moments
from offdiag.metrics.scores.ranked_cells import RankedCells

CELLS_PER_LOGIT = 256
LINEAR_STEPS = 60.00000236
"""floor(this times p) steps exactly at every k / 15 and k / 20 as rounded to float32."""
LOWEST_CODE, HIGHEST_CODE = -40_000, 40_000
"""Codes of p = 0 and p = 1; those of all others lie between -26,500 and 4,500."""
NEGATIVE, POSITIVE = 0, 1
"""Columns of a cell's figures by outcome."""
CELL_AXIS = 0
"""Axis of an (m, 2) table along which the cell changes."""
OUTCOME_AXIS = 1
"""Axis of an (m, 2) table along which the outcome changes."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CellSums:
    """What is known about m sets of samples, each of one cell and one outcome; all of shape (m,).

    `code` int32 names the cell, in the order of its scores. `count` is at least 1; `low` and
    `high` are the smallest and the largest p, float32. `score` sums p, `squared` (p - y)^2 and
    `surprise` -ln of the probability of what happened, leaving out samples for which that is 0.
    """

    code: NDArray[np.int32]
    count: Counts
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    score: Floats
    squared: Floats
    surprise: Floats

    def __len__(self) -> int:
        return len(self.code)

    def take(self, places: NDArray[Any]) -> CellSums:
        """The sets at the given positions, or those that a mask (m,) marks."""
        return CellSums(*(getattr(self, field.name)[places] for field in fields(self)))

    def grouped(self, keys: NDArray[np.integer[Any]]) -> tuple[NDArray[np.intp], CellSums]:
        """Add up sets with equal keys (m,), which are of one cell and one outcome.

        Returns the position of one set of each group, and the groups in the order of the keys.
        """
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] - 1))
        sorted_sums = self.take(order)
        added = {
            name: np.add.reduceat(getattr(sorted_sums, name), starts)
            for name in ("count", "score", "squared", "surprise")
        }
        return order[starts], CellSums(
            code=sorted_sums.code[starts],
            low=np.minimum.reduceat(sorted_sums.low, starts),
            high=np.maximum.reduceat(sorted_sums.high, starts),
            **added,
        )


def cell_codes(p: NDArray[np.float32]) -> NDArray[np.int32]:
    """The cells of probabilities in [0, 1], in the same order as these."""
    wide = p.astype(np.float64)
    with np.errstate(divide="ignore"):
        logit = np.log(wide / (1 - wide))
    inside = np.clip(logit, -1e3, 1e3)
    code = np.floor(CELLS_PER_LOGIT * inside) + np.floor(LINEAR_STEPS * wide) + (wide > 0.5)
    code = np.where(wide <= 0, LOWEST_CODE, np.where(wide >= 1, HIGHEST_CODE, code))
    return code.astype(np.int32)


def count_scores(
    parts: Iterable[tuple[NDArray[np.bool_], NDArray[np.float32]]],
) -> ScoreCells | None:
    """Count chunks of any size: whether the event happened, and p in [0, 1], both (n,).

    Memory holds one chunk and the cells. None if a p is not a probability or there is no sample.
    """
    known: CellSums | None = None
    happened = np.zeros(0, dtype=np.bool_)
    for is_positive, p in parts:
        if not len(p):
            continue
        if not ((p >= 0) & (p <= 1)).all():
            return None
        single = _single(is_positive, p)
        outcome = is_positive
        if known is not None:
            single = CellSums(
                *(
                    np.concatenate([getattr(known, field.name), getattr(single, field.name)])
                    for field in fields(CellSums)
                )
            )
            outcome = np.concatenate([happened, is_positive])
        first, known = single.grouped(single.code.astype(np.int64) * 2 + outcome)
        happened = outcome[first]
    return None if known is None else score_cells(known, happened)


def _single(is_positive: NDArray[np.bool_], p: NDArray[np.float32]) -> CellSums:
    wide = p.astype(np.float64) + 0.0
    own = np.where(is_positive, wide, 1 - wide)
    surprise = -np.log(np.where(own > 0, own, 1.0))
    return CellSums(
        cell_codes(p),
        np.ones(len(p), np.int64),
        *(p, p),
        score=wide,
        squared=np.square(np.where(is_positive, 1 - wide, wide)),
        surprise=surprise,
    )


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """m cells in ascending order, none of which overlaps another.

    `low` and `high` are float64 (m,); `count` int64 and the sums `score`, `squared` and
    `surprise` float64 are (m, 2), by outcome.
    """

    low: Floats
    high: Floats
    count: Counts
    score: Floats
    squared: Floats
    surprise: Floats

    @property
    def n_samples(self) -> int:
        return int(self.count.sum())

    @property
    def support(self) -> Counts:
        """Samples by outcome, (2,)."""
        return np.asarray(self.count.sum(axis=CELL_AXIS))

    @cached_property
    def is_exact(self) -> bool:
        """Whether each cell is one score, so that nothing is lost by counting."""
        return bool((self.low == self.high).all())

    @cached_property
    def event(self) -> RankedCells:
        """Cells of the probability of the positive class."""
        missed = self.count[:, POSITIVE] - self.score[:, POSITIVE]
        return RankedCells(
            self.low,
            self.high,
            self.count[:, POSITIVE],
            self.count[:, NEGATIVE],
            self.score.sum(axis=OUTCOME_AXIS),
            self.score[:, NEGATIVE] + missed,
        )

    def top_label(self, *, ties_to_positive: bool) -> RankedCells:
        """Cells of the larger of p and 1 - p; positive if that class is the actual one."""
        above = self.low >= 0.5 if ties_to_positive else self.low > 0.5
        upper, lower = self._part(above).event, self._part(~above).event.complement()
        joined = RankedCells(
            *(
                np.concatenate([getattr(lower, name), getattr(upper, name)])
                for name in ("low", "high", "positive", "negative", "score_sum", "residual")
            ),
            score_type=np.float64,
        )
        return joined.in_order()

    @property
    def losses(self) -> LossMoments:
        """Moments of all losses; within a cell and an outcome they count as equal.

        Their means are exact. Less than 1 in 10^4 of their spread is lost.
        """
        n_samples = np.maximum(self.count, 1)
        squared = 2 * self.squared
        own_is_zero = np.stack([self.high == 1, self.low == 0], axis=OUTCOME_AXIS)
        is_infinite = bool(self.count[own_is_zero].any())
        largest = -np.log(CLIP)
        mean = self.surprise / n_samples
        clipped: Floats = np.where(own_is_zero, largest, np.clip(mean, CLIP, largest))
        clipped_sum = clipped * self.count
        return LossMoments(
            None if is_infinite else _moments(self.count, mean, self.surprise),
            _moments(self.count, clipped_sum / n_samples, clipped_sum),
            _moments(self.count, squared / n_samples, squared),
        )

    @property
    def clipping_error(self) -> float:
        """Most by which the mean clipped loss may be off, from cells that reach below the clip."""
        reaching = (self.low > 0) & (self.low < CLIP) & (self.high > CLIP)
        if not reaching.any():
            return 0.0
        width = np.log(self.high[reaching] / self.low[reaching])
        return float((self.count[reaching, POSITIVE] * width).sum()) / self.n_samples

    def _part(self, members: NDArray[np.bool_]) -> ScoreCells:
        return ScoreCells(*(getattr(self, field.name)[members] for field in fields(self)))


def score_cells(sums: CellSums, is_positive: NDArray[np.bool_]) -> ScoreCells:
    """Put sets of samples in order; `is_positive` (m,) is their outcome, m at least 1.

    Cells that overlap, as the last digits of a logarithm may cause, are merged.
    """
    order = np.lexsort((sums.high, sums.low))
    sums, is_positive = sums.take(order), is_positive[order]
    reach = np.maximum.accumulate(sums.high)
    cell = np.cumsum(np.append(False, sums.low[1:] > reach[:-1]))
    n_cells = int(cell[-1]) + 1
    place = 2 * cell + is_positive
    by_outcome = 2 * n_cells

    def table(values: Floats) -> Floats:
        added = np.bincount(place, weights=values, minlength=by_outcome)
        return added.astype(np.float64).reshape(n_cells, 2)

    count = np.zeros(by_outcome, np.int64)
    np.add.at(count, place, sums.count)
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    return ScoreCells(
        np.minimum.reduceat(sums.low, starts).astype(np.float64),
        np.maximum.reduceat(sums.high, starts).astype(np.float64),
        count.reshape(n_cells, 2),
        table(sums.score),
        table(sums.squared),
        table(sums.surprise),
    )


def _moments(count: Counts, each: Floats, total: Floats) -> Moments:
    """Moments of `count` equal losses `each`, which add up to `total`, all of one shape."""
    n_samples = int(count.sum())
    mean = float(total.sum()) / n_samples
    return Moments(n_samples, mean, float((count * np.square(each - mean)).sum()))


@dataclass(frozen=True, eq=False)
class EventSums:
    """What is known about the probability of one event: sets of samples of one cell and outcome.

    `happened` is bool (m,); all sets together are all samples.
    """

    happened: NDArray[np.bool_]
    sums: CellSums

    def cells(self) -> ScoreCells:
        return score_cells(self.sums, self.happened)


@dataclass(frozen=True, eq=False)
class ClassCells:
    """Cells of each of K classes against the rest in label order, and of the top label.

    `top` holds the largest probability of each sample; its event is that the class with that
    probability, the first if tied, is the actual one.
    """

    classes: tuple[ScoreCells, ...]
    top: ScoreCells

    @property
    def n_samples(self) -> int:
        return self.top.n_samples

    @property
    def support(self) -> NDArray[np.int64]:
        """Samples of each class, (K,)."""
        return np.array([int(cells.support[POSITIVE]) for cells in self.classes], np.int64)

    @property
    def events(self) -> tuple[RankedCells, ...]:
        """The ranking of each class against the rest."""
        return tuple(cells.event for cells in self.classes)

    @property
    def losses(self) -> LossMoments:
        """Moments of both losses from the samples of each class in its own cells.

        Means are exact; the spread within a cell is lost. The squared distance of a sample adds up
        over classes, so only its mean is known: its `squares` are NaN.
        """
        count, surprise, is_zero = (
            np.concatenate(parts)
            for parts in zip(
                *(
                    (each.count[:, POSITIVE], each.surprise[:, POSITIVE], each.high == 0)
                    for each in self.classes
                ),
                strict=True,
            )
        )
        kept = count > 0
        count, surprise, is_zero = count[kept], surprise[kept], is_zero[kept]
        mean = surprise / count
        largest = -np.log(CLIP)
        clipped = np.where(is_zero, largest, np.clip(mean, CLIP, largest))
        squared = sum(float(each.squared.sum()) for each in self.classes)
        return LossMoments(
            None if is_zero.any() else _moments(count, mean, count * mean),
            _moments(count, clipped, count * clipped),
            Moments(self.n_samples, squared / self.n_samples, float("nan")),
        )

    @property
    def clipping_error(self) -> float:
        """Most by which the mean clipped loss may be off, from cells that reach below the clip."""
        return float(sum(each.clipping_error for each in self.classes))


def class_cells(classes: tuple[EventSums, ...], top: EventSums) -> ClassCells:
    """Put the counts of all classes in order."""
    return ClassCells(tuple(each.cells() for each in classes), top.cells())
