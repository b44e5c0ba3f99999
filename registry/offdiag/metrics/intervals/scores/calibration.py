"""Calibration errors and the Kolmogorov-Smirnov distance of resampled cases.

Each function takes resampled counts (b, m) of score cells and returns b values.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.scores.score_cells import CELL_AXIS, ScoreCells
from offdiag.metrics.probabilistic.calibration import DEFAULT_BINS, equal_width_places

Floats = NDArray[np.float64]


def equal_width_errors(cells: ScoreCells, counts: Floats) -> tuple[Floats, Floats]:
    """Expected and maximum calibration error over bins of equal width."""
    places = equal_width_places(cells.score, n_bins=DEFAULT_BINS)
    borders = [0, *places.tolist(), len(cells.score)]
    expected, largest = np.zeros(len(counts)), np.zeros(len(counts))
    for low, high in pairwise(borders):
        drawn = counts[:, low:high]
        # Einstein summation gives the same bits however many threads a machine has.
        gap = np.abs(np.einsum("rc,c->r", drawn, cells.surplus[low:high]))
        cases = np.einsum("rc->r", drawn)
        expected += gap
        np.maximum(largest, gap / np.maximum(cases, 1), out=largest)
    return expected / np.einsum("rc->r", counts), largest


def equal_mass_error(cells: ScoreCells, counts: Floats) -> Floats:
    """Expected calibration error over bins of equal mass, which each resample draws anew.

    As for the cases themselves, a score with c smaller ones among n belongs to bin
    floor(c * B / n).
    """
    up_to = np.cumsum(counts, axis=CELL_AXIS)
    n_cases = int(up_to[0, -1])
    smallest = [-(-place * n_cases // DEFAULT_BINS) for place in range(1, DEFAULT_BINS)]
    ends = np.append(cells.group_starts, len(cells.score))
    errors = np.empty(len(counts))
    for replicate, (drawn, cumulated) in enumerate(zip(counts, up_to, strict=True)):
        # A bin begins with the first score that has enough smaller ones: the score after the
        # one with which the wanted number is reached.
        reached = np.searchsorted(cumulated, smallest, side="left")
        begins = ends[np.searchsorted(ends, reached, side="right")]
        borders = np.unique(np.append(0, begins[begins < len(cells.score)]))
        errors[replicate] = np.abs(np.add.reduceat(drawn * cells.surplus, borders)).sum()
    return errors / n_cases


def ks_distances(cells: ScoreCells, counts: Floats) -> Floats:
    """Largest gap between the two score distributions; NaN where one kind was never drawn.

    The gap is largest where a run of cases of one kind ends, in every resample, so counts are
    added up by run first.
    """
    starts, is_end = _runs(cells)
    is_positive = cells.is_positive[starts]
    by_run = np.add.reduceat(counts, starts, axis=CELL_AXIS)
    n_positive = np.einsum("rs,s->r", by_run, is_positive.astype(np.float64))[:, np.newaxis]
    n_negative = np.einsum("rs->r", by_run)[:, np.newaxis] - n_positive
    with np.errstate(divide="ignore", invalid="ignore"):
        by_run *= np.where(is_positive, 1 / n_positive, -1 / n_negative)
        gaps = np.cumsum(by_run, axis=CELL_AXIS, out=by_run)
    if not is_end.all():
        gaps = gaps[:, is_end]
    np.abs(gaps, out=gaps)
    is_one_sided = (n_positive == 0) | (n_negative == 0)
    return np.where(is_one_sided[:, 0], np.nan, gaps.max(axis=CELL_AXIS))


def _runs(cells: ScoreCells) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """First cells of the runs, and after which runs the distributions may be compared.

    A run is a stretch of cells of one kind. Equal scores of both kinds are two runs, between
    which there is no threshold.
    """
    shares = np.zeros(len(cells.score), dtype=np.bool_)
    same = cells.score[1:] == cells.score[:-1]
    shares[1:] |= same
    shares[:-1] |= same
    begins = np.ones(len(cells.score), dtype=np.bool_)
    begins[1:] = (cells.is_positive[1:] != cells.is_positive[:-1]) | shares[1:] | shares[:-1]
    starts = np.flatnonzero(begins)
    last = np.append(starts[1:], len(cells.score)) - 1
    is_end = np.ones(len(starts), dtype=np.bool_)
    is_end[:-1] = cells.score[last[:-1]] != cells.score[last[:-1] + 1]
    return starts, is_end
