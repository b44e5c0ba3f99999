"""Scores of an event in ascending order, from which all ranking metrics are computed.

Area under the curve, average precision, Kolmogorov-Smirnov distance, operating points and
calibration bins are sums over the distinct scores in order. Scores are sorted once, with the
outcome as the last bit of the key, and read in blocks, so that no work array grows with the
samples. Counts stay whole numbers, so ties are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason

SAMPLES_PER_BLOCK = 1 << 16
"""Samples processed at a time: their arrays fit a cache of the processor."""

_KEYS = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}

Counts = NDArray[np.int64]


class TwoKinds(Protocol):
    """Samples of which some are positive and the others negative."""

    @property
    def n_positive(self) -> int: ...
    @property
    def n_negative(self) -> int: ...


def one_sided_reason(ranked: TwoKinds) -> Reason | None:
    """Why metrics that need both kinds of samples are undefined; None if both exist."""
    if ranked.n_positive == 0:
        return Reason.NO_ACTUAL_POSITIVES
    return Reason.NO_ACTUAL_NEGATIVES if ranked.n_negative == 0 else None


def undefined_if_one_sided(ranked: TwoKinds) -> MetricValue | None:
    """The undefined value of such a metric; None if both kinds exist."""
    reason = one_sided_reason(ranked)
    return None if reason is None else MetricValue(None, reason.value)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBlock:
    """b consecutive distinct scores, ascending, with the samples that have them.

    `values` is floating (b,), `positive` and `negative` are int64 (b,). `positives_before` and
    `negatives_before` count the samples that score below the whole block.
    """

    values: NDArray[Any]
    positive: Counts
    negative: Counts
    positives_before: int
    negatives_before: int

    @property
    def positives_below(self) -> Counts:
        """Positive samples with a smaller score, (b,)."""
        return self.positives_before + np.cumsum(self.positive) - self.positive

    @property
    def negatives_below(self) -> Counts:
        """Negative samples with a smaller score, (b,)."""
        return self.negatives_before + np.cumsum(self.negative) - self.negative


@dataclass(frozen=True, slots=True)
class RankSums:
    """What one pass over the distinct scores adds up.

    `doubled_wins` is twice the Mann-Whitney U: 2 for each pair won by the positive sample, 1
    for a tie; between 0 and 2 P M, and exact. `precision_sum` adds the precision at its score
    over the positive samples. `largest_gap` is the largest |positives below * M - negatives
    below * P|. `n_distinct` counts scores.
    """

    doubled_wins: int
    precision_sum: float
    largest_gap: int
    n_distinct: int


@dataclass(frozen=True, eq=False)
class RankedScores:
    """n finite scores in ascending order, (n,), and whether the event happened, bool (n,).

    Their floating type is kept, so that two float32 scores tie exactly when they are equal in
    float32.
    """

    ascending: NDArray[Any]
    is_positive: NDArray[np.bool_]

    @property
    def n_samples(self) -> int:
        return len(self.ascending)

    @property
    def score_type(self) -> type[np.floating[Any]]:
        """The type in which scores are compared."""
        return self.ascending.dtype.type

    def at(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """The scores at the given positions of the order."""
        return np.asarray(self.ascending[places])

    @cached_property
    def n_positive(self) -> int:
        return int(np.count_nonzero(self.is_positive))

    @property
    def n_negative(self) -> int:
        return self.n_samples - self.n_positive

    @property
    def totals(self) -> tuple[int, int]:
        """Positive and negative samples in all."""
        return self.n_positive, self.n_negative

    def blocks(self) -> Iterator[ScoreBlock]:
        """All distinct scores in consecutive blocks; equal scores are never separated."""
        start = positives = 0
        while start < self.n_samples:
            stop = self.end_of_ties(min(start + SAMPLES_PER_BLOCK, self.n_samples))
            part = self.ascending[start:stop]
            begins = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
            positive = self.is_positive[start:stop].astype(np.int64)
            count = np.ones(len(part), dtype=np.int64)
            if len(begins) < len(part):
                positive = np.add.reduceat(positive, begins)
                count = np.diff(begins, append=len(part))
            yield ScoreBlock(
                part[begins], positive, count - positive, positives, start - positives
            )
            positives += int(positive.sum())
            start = stop

    def end_of_ties(self, place: int) -> int:
        """The first place at or after `place` (0 to n) that does not separate equal scores."""
        if place in (0, self.n_samples):
            return place
        return int(np.searchsorted(self.ascending, self.ascending[place - 1], side="right"))

    def samples_below_each(self, scores: NDArray[Any]) -> NDArray[np.intp]:
        """How many samples score below each of the given scores, compared in their own type."""
        wanted = scores.astype(self.ascending.dtype)
        return np.searchsorted(self.ascending, wanted, side="left")

    def positives_between(self, places: NDArray[np.intp]) -> Counts:
        """Positive samples between consecutive places, which ascend."""
        counted = [
            np.count_nonzero(self.is_positive[low:high]) for low, high in pairwise(places.tolist())
        ]
        return np.array(counted, dtype=np.int64)

    def score_sums(self, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """Sums of the scores between consecutive places, in double precision."""
        return np.array(
            [
                sum(
                    float(self.ascending[at : min(at + SAMPLES_PER_BLOCK, high)].sum(dtype=float))
                    for at in range(low, high, SAMPLES_PER_BLOCK)
                )
                for low, high in pairwise(places.tolist())
            ],
            dtype=np.float64,
        )

    @cached_property
    def sums(self) -> RankSums:
        wins = gap = n_distinct = 0
        precision = 0.0
        n_positive, n_negative, n_samples = self.n_positive, self.n_negative, self.n_samples
        for block in self.blocks():
            positives, negatives = block.positives_below, block.negatives_below
            wins += int((block.positive * (2 * negatives + block.negative)).sum())
            reported = n_samples - positives - negatives
            precision += float((block.positive * ((n_positive - positives) / reported)).sum())
            gap = max(gap, int(np.abs(positives * n_negative - negatives * n_positive).max()))
            n_distinct += len(block.values)
        return RankSums(wins, precision, gap, n_distinct)

    def mirrored(self) -> RankedScores:
        """The scores of the opposite event: negated, with outcomes exchanged."""
        return RankedScores(-self.ascending[::-1], ~self.is_positive[::-1])

    @cached_property
    def _distinct(self) -> tuple[NDArray[Any], Counts]:
        begins = np.ones(self.n_samples, dtype=np.bool_)
        np.not_equal(self.ascending[1:], self.ascending[:-1], out=begins[1:])
        places = np.flatnonzero(begins)
        return self.ascending[places], np.append(places, self.n_samples).astype(np.int64)

    @property
    def values(self) -> NDArray[Any]:
        """The V distinct scores, ascending."""
        return self._distinct[0]

    @property
    def samples_below(self) -> Counts:
        """For each distinct score, the samples that score lower, then all samples; (V + 1,)."""
        return self._distinct[1]

    @cached_property
    def positives_below(self) -> Counts:
        """As `samples_below`, for positive samples."""
        up_to = np.append(0, np.cumsum(self.is_positive, dtype=np.int64))
        return np.asarray(up_to[self.samples_below])

    @cached_property
    def negatives_below(self) -> Counts:
        """As `samples_below`, for negative samples."""
        return self.samples_below - self.positives_below

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """One above the largest score, then the distinct scores descending; (V + 1,)."""
        return np.append(self.above_all, self.values[::-1].astype(np.float64))

    @property
    def above_all(self) -> float:
        """The next number above the largest score in its type, at which nothing is reported."""
        highest = self.ascending[-1:]
        with np.errstate(over="ignore"):  # Above the largest finite number there is infinity.
            return float(np.nextafter(highest, np.array(np.inf, dtype=highest.dtype))[0])

    @property
    def true_positives(self) -> Counts:
        """Positive samples with at least the score, for each of `thresholds`; (V + 1,)."""
        return self.n_positive - self.positives_below[::-1]

    @property
    def false_positives(self) -> Counts:
        """Negative samples with at least the score, for each of `thresholds`; (V + 1,)."""
        return self.n_negative - self.negatives_below[::-1]


def rank_scores(is_positive: NDArray[np.bool_], scores: NDArray[Any]) -> RankedScores:
    """Sort finite scores, both arrays of shape (n,).

    The bits of numbers from 0 on sort like the numbers and leave the sign bit free, so such a
    score and its outcome make one key; sorting keys is several times faster than an index.
    """
    # Adding 0 gives -0.0 and 0.0 the same bits, and makes a contiguous copy.
    return rank_in_place(is_positive, scores + 0)


def rank_in_place(is_positive: NDArray[np.bool_], scores: NDArray[Any]) -> RankedScores:
    """`rank_scores` that may overwrite contiguous scores without -0.0."""
    if scores.dtype not in _KEYS or (len(scores) and scores.min() < 0):
        order = np.argsort(scores)
        return RankedScores(scores[order], is_positive[order])
    keys = scores.view(_KEYS[scores.dtype])
    keys <<= 1
    keys |= is_positive
    keys.sort()
    happened = np.empty(len(keys), dtype=np.bool_)
    for start in range(0, len(keys), SAMPLES_PER_BLOCK):
        part = slice(start, start + SAMPLES_PER_BLOCK)
        happened[part] = keys[part] & 1
    keys >>= 1
    return RankedScores(scores, happened)


def ascending_order(scores: NDArray[Any]) -> NDArray[np.integer[Any]]:
    """Positions of n < 2^32 finite scores in ascending order, ties in their given order, (n,)."""
    plain = scores + 0
    if plain.dtype != np.float32 or (len(plain) and plain.min() < 0):
        return np.argsort(plain, kind="stable").astype(np.uint32)
    keys = plain.view(np.uint32).astype(np.uint64)
    keys <<= 32
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    return keys.astype(np.uint32)
