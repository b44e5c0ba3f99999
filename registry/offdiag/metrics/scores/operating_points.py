"""Counts at every threshold, and a reduced set of thresholds that draws the same plot.

A sample is reported when its score is at least the threshold. ROC, precision-recall and cost
curves are drawn from only two counts per threshold, true and false positives, so these are kept
once, as whole numbers, and every rate is derived from them.

A million scores have a million thresholds, of which a screen shows a few hundred. Which of them
can be dropped follows from the plots: M4 aggregation (Jugel et al. 2014, VLDB 7(10)) keeps
the first, last, lowest and highest point of every column of pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import MINUS
from offdiag.metrics.scores.curves import upper_hull
from offdiag.metrics.scores.ranked_cells import Ranking
from offdiag.metrics.scores.ranking import RankedScores

MOST_HULL_CORNERS = 512
"""Corners of the hull are kept up to this number; few sets of scores have more."""

_FEWEST_DIGITS, _MOST_DIGITS = 4, 9
"""Digits that distinguish all numbers of single precision."""

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """n thresholds, from the strictest, at which nothing is reported, to one that reports all.

    `thresholds` is float64 (n,), strictly descending; `true_positives` and `false_positives`
    are int64 (n,), never falling, from 0 to `n_positive` and `n_negative`. `n_thresholds` is
    the number of distinct thresholds that the scores have, n if none was dropped.
    `reports_below` is True if the class is reported for scores below the threshold; the
    thresholds then ascend.
    """

    thresholds: Floats
    true_positives: Counts
    false_positives: Counts
    n_positive: int
    n_negative: int
    n_thresholds: int
    reports_below: bool = False

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def reported(self) -> Counts:
        """Samples that are reported, (n,)."""
        return self.true_positives + self.false_positives

    @property
    def recall(self) -> Floats:
        """True positive rate, (n,); NaN without positive samples."""
        return _share(self.true_positives, self.n_positive)

    @property
    def false_positive_rate(self) -> Floats:
        """Share of negative samples that are reported, (n,); NaN without negative samples."""
        return _share(self.false_positives, self.n_negative)

    def precision(self, prevalence: float | None = None) -> Floats:
        """Share of the reported samples that are positive, (n,); NaN where nothing is reported.

        With a `prevalence` in (0, 1), the share to expect if positive samples are that common
        and both rates stay the same: TPR q / (TPR q + FPR (1 - q)).
        """
        if prevalence is None:
            return _share(self.true_positives, self.reported)
        hits = self.recall * prevalence
        return _share(hits, hits + self.false_positive_rate * (1 - prevalence))

    def f1(self, prevalence: float | None = None) -> Floats:
        """F1, 0 where no positive sample is reported, (n,); NaN if there is none to report.

        A `prevalence` is as in `precision`.
        """
        if prevalence is None:
            return _share(2 * self.true_positives, self.reported + self.n_positive)
        hits = self.recall * prevalence
        reported = hits + self.false_positive_rate * (1 - prevalence)
        return _share(2 * hits, reported + prevalence)

    def at(self, threshold: float) -> int:
        """Position of the point for a threshold, exact if that point was not dropped.

        Both are compared in single precision, in which scores are stored: 0.35 is less there.
        """
        with np.errstate(over="ignore"):
            thresholds, wanted = self.thresholds.astype(np.float32), np.float32(threshold)
        if self.reports_below:
            return min(int(np.searchsorted(thresholds, wanted, side="left")), len(self) - 1)
        return max(int(np.searchsorted(-thresholds, -wanted, side="right")) - 1, 0)

    def threshold_text(self, threshold: float) -> str:
        """A threshold with as few digits, but at least four, as give the same point.

        Shortening 0.99997 to "1", for instance, might report nothing.
        """
        texts = (f"{threshold + 0.0:.{each}g}" for each in range(_FEWEST_DIGITS, _MOST_DIGITS))
        place = self.at(threshold)
        exact = f"{threshold:.{_MOST_DIGITS}g}"
        found = next((text for text in texts if self.at(float(text)) == place), exact)
        return found.replace("-", MINUS)

    @property
    def float64_thresholds(self) -> Floats:
        """The thresholds that reproduce the counts for scores of either precision, (n,).

        They are the smallest numbers that single precision, in which scores are stored, rounds to
        `thresholds`. With 0.6 in single precision, which is 0.60000002, a score of 0.6 in double
        precision would not be reported. Values that are not stored scores, such as bin edges,
        are unchanged.
        """
        with np.errstate(over="ignore"):
            single = self.thresholds.astype(np.float32)
        below = np.nextafter(single, np.float32(-np.inf)).astype(np.float64)
        middle = (single + below) / 2
        above = np.nextafter(middle, np.inf)
        smallest = np.where(middle.astype(np.float32) == single, middle, above)
        is_stored = np.isfinite(single) & (single != 0) & (single == self.thresholds)
        return np.where(is_stored, smallest, self.thresholds)

    def of_counts(self, true_positives: int, false_positives: int) -> int | None:
        """Position of the only point with these counts, None if no threshold gives them."""
        place = int(np.searchsorted(self.reported, true_positives + false_positives))
        if place == len(self) or self.true_positives[place] != true_positives:
            return None
        return place if self.false_positives[place] == false_positives else None


def operating_points(ranked: RankedScores) -> OperatingPoints:
    """One point for each distinct score, and one above the largest."""
    if ranked.n_samples == 0:
        return no_points()
    return OperatingPoints(
        ranked.thresholds,
        ranked.true_positives.astype(np.int64),
        ranked.false_positives.astype(np.int64),
        ranked.n_positive,
        ranked.n_negative,
        len(ranked.values) + 1,
    )


def no_points(
    n_positive: int = 0, n_negative: int = 0, *, n_thresholds: int = 0
) -> OperatingPoints:
    """None of the thresholds of samples of two kinds."""
    nothing = np.zeros(0, dtype=np.int64)
    return OperatingPoints(
        nothing.astype(np.float64), nothing, nothing, n_positive, n_negative, n_thresholds
    )


def drawn_points(
    ranked: Ranking,
    *,
    cells: int,
    in_use: tuple[int, int],
    thresholds: Sequence[float] = (),
) -> OperatingPoints:
    """The points of `operating_points` that `reduced` keeps, without holding all of them.

    Also kept are the points with the largest F1 and the largest difference of the two rates, the
    one whose predictions the run made (`in_use` has its true positives and all its positives),
    and those that `thresholds` lead to.

    A point that is first, last, lowest or highest in a pixel, or a corner of the hull, is so in
    its block too. Each block is therefore reduced separately, and then the result once more.
    """
    if ranked.n_samples == 0:
        return no_points()
    n_positive, n_negative = ranked.n_positive, ranked.n_negative
    hits, n_predicted = in_use

    def kept(points: OperatingPoints) -> list[int]:
        used = points.of_counts(hits, n_predicted - hits)
        wanted = [points.at(threshold) for threshold in thresholds]
        return [*_best(points), *wanted, *([] if used is None else [used])]

    found = no_points(n_positive, n_negative, n_thresholds=1)
    for block in ranked.blocks():
        joined = OperatingPoints(
            np.append(block.values[::-1].astype(np.float64), found.thresholds),
            np.append((n_positive - block.positives_below)[::-1], found.true_positives),
            np.append((n_negative - block.negatives_below)[::-1], found.false_positives),
            n_positive,
            n_negative,
            found.n_thresholds + len(block.values),
        )
        found = _reduced(joined, cells=cells, kept=kept(joined))
    whole = replace(
        found,
        thresholds=np.append(ranked.above_all, found.thresholds),
        true_positives=np.append(0, found.true_positives),
        false_positives=np.append(0, found.false_positives),
    )
    return reduced(whole, cells=cells, kept=kept(whole))


def _best(points: OperatingPoints) -> list[int]:
    """Positions of the largest F1 and of the largest difference between the two rates."""
    if not points.n_positive:
        return []
    best = [int(np.argmax(points.f1()))]
    if points.n_negative:
        best.append(int(np.argmax(points.recall - points.false_positive_rate)))
    return best


def of_other_class(points: OperatingPoints) -> OperatingPoints:
    """The same thresholds seen from the other of two classes.

    That class is reported for scores below the threshold, so the strictest is now the lowest.
    """
    backwards = slice(None, None, -1)
    return OperatingPoints(
        points.thresholds[backwards],
        (points.n_negative - points.false_positives)[backwards],
        (points.n_positive - points.true_positives)[backwards],
        points.n_negative,
        points.n_positive,
        points.n_thresholds,
        reports_below=not points.reports_below,
    )


def reduced(points: OperatingPoints, *, cells: int, kept: Iterable[int] = ()) -> OperatingPoints:
    """Few of the points, enough to draw both curves with `cells` pixels on each side.

    It keeps the first and last point of each pixel that the ROC curve visits, the first, last,
    lowest and highest of each column of the precision-recall curve, the corners of the convex
    hull of the ROC curve, and the positions in `kept`: at most 8 `cells` + 4, the corners, and
    those. No point of the ROC curve is further than a pixel from a kept point, in either
    direction, and the precision-recall curve reaches as high and as low in each column.
    """
    if len(points) <= 2:
        return points
    return _reduced(points, cells=cells, kept=kept, first=1, most_corners=MOST_HULL_CORNERS)


def _reduced(
    points: OperatingPoints,
    *,
    cells: int,
    kept: Iterable[int],
    first: int = 0,
    most_corners: int | None = None,
) -> OperatingPoints:
    """Reduce from `first`, the first point with a precision; too many corners are all left out."""
    places = [np.array([0, len(points) - 1, *kept], dtype=np.int64)]
    column = np.minimum(np.nan_to_num(points.recall) * cells, cells - 1).astype(np.int64)
    if points.n_positive and points.n_negative:
        across = np.minimum(points.false_positive_rate * cells, cells - 1).astype(np.int64)
        places.append(_ends_of_runs(across * cells + column))
        corners = upper_hull(points.false_positives, points.true_positives)
        if most_corners is None or len(corners) <= most_corners:
            places.append(corners)
    if points.n_positive:
        precision = points.precision()[first:]
        places.append(_extremes_by_column(column[first:], precision) + first)
    wanted = np.unique(np.concatenate(places))
    return replace(
        points,
        thresholds=points.thresholds[wanted],
        true_positives=points.true_positives[wanted],
        false_positives=points.false_positives[wanted],
    )


def _ends_of_runs(values: Counts) -> Counts:
    """First and last position of every run of equal values."""
    begins = np.flatnonzero(np.diff(values)) + 1
    ends = np.append(begins - 1, len(values) - 1)
    return np.concatenate([[0], begins, ends]).astype(np.int64)


def _extremes_by_column(column: Counts, height: Floats) -> Counts:
    """Positions of the first, last, lowest and highest value of each column; columns ascend."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(column)) + 1]).astype(np.int64)
    ends = np.append(starts[1:], len(column)) - 1
    lowest = height == np.repeat(np.minimum.reduceat(height, starts), ends - starts + 1)
    highest = height == np.repeat(np.maximum.reduceat(height, starts), ends - starts + 1)
    low, high = np.flatnonzero(lowest), np.flatnonzero(highest)
    return np.concatenate(
        [
            starts,
            ends,
            low[np.searchsorted(low, starts, side="left")],
            high[np.searchsorted(high, ends, side="right") - 1],
        ]
    )


def _share(part: NDArray[Any], whole: NDArray[Any] | int) -> Floats:
    of = np.asarray(whole, dtype=np.float64)
    return np.asarray(part / np.where(of == 0, np.nan, of), dtype=np.float64)
