"""Resampling: multinomial draws of the cells, or of the samples one by one.

Resampling cases without touching them: a multinomial draw of the cells. Drawing N of N cases
with replacement puts each draw into cell (i, j) with probability c_ij / N, independently, so the
resampled matrix is Multinomial(N, C / N) exactly. A replicate therefore costs as much as there
are occupied cells, however many cases there are. This holds for every statistic of the counts;
it does not for statistics of scores, for fractional weights, or for cases that come in clusters.

Bootstrap of cases one by one, for statistics that are no function of a confusion matrix.
Calibration errors, distances between score distributions and weighted cases need the cases
themselves. A statistic is told how often each case was drawn, which lets it sort or score once
and reuse that for every resample.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

CELL_AXIS = 1
"""Axis of resampled counts (b, m) along which the cell changes."""
CELLS_PER_BATCH = 1 << 19
"""Cells of all matrices held at a time (4 MiB), so that memory does not grow with replicates."""


def generator(seed: int) -> np.random.Generator:
    """The random numbers that belong to a seed: PCG64, the same on every machine."""
    return np.random.Generator(np.random.PCG64(seed))


def batches(replicates: int, *, n_cells: int) -> Iterator[slice]:
    """Consecutive parts of 0 .. replicates - 1, small enough to evaluate at once."""
    step = max(1, CELLS_PER_BATCH // n_cells)
    for start in range(0, replicates, step):
        yield slice(start, min(start + step, replicates))


def resampled_counts(
    counts: NDArray[np.int64], *, replicates: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Counts of resamples of the same size, shape (replicates, m) for `counts` of shape (m,).

    All counts must be positive. They are drawn from the rarest to the commonest: the
    generator divides each probability by what the earlier ones left, and that stays accurate
    only while little is gone.
    """
    order = np.argsort(counts, kind="stable")
    ascending = counts[order]
    total = int(counts.sum())
    drawn = np.empty((replicates, len(counts)), np.int64)
    drawn[:, order] = rng.multinomial(total, ascending / total, size=replicates)
    return drawn


def resampled_matrices(
    counts: NDArray[np.int64], *, replicates: int, rng: np.random.Generator
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Resampled confusion matrices of a (K, K) matrix with at least one case.

    Yields which replicates a batch holds and the batch itself, shape (b, K, K).
    """
    flat = counts.ravel()
    occupied = np.flatnonzero(flat)
    for part in batches(replicates, n_cells=flat.size):
        stack = np.zeros((part.stop - part.start, flat.size), np.int64)
        stack[:, occupied] = resampled_counts(flat[occupied], replicates=len(stack), rng=rng)
        yield part, stack.reshape(len(stack), *counts.shape)


FEWEST_REPLICATES = 200
"""Resamples taken however many cases there are; fewer make the ends of an interval shaky."""
MOST_DRAWS = 30_000_000
"""Cases drawn in all resamples together, as far as that leaves `FEWEST_REPLICATES`: two or
three seconds of work."""
CASES_PER_CELL = 10
"""Drawing the count of a cell costs about as much as drawing this many single cases."""
NUMBERS_PER_DRAW = 8
"""Drawing a case costs about as much as adding up this many numbers."""


def affordable(replicates: int, counts: NDArray[np.int64], *, n_numbers: int = 0) -> int:
    """How many of the wanted replicates to take of so many cases of each kind.

    `n_numbers` tells how many numbers are added up for each resample, if those are many more.
    """
    n_draws = min(int(counts.sum()), CASES_PER_CELL * len(counts))
    work = max(n_draws, n_numbers // NUMBERS_PER_DRAW)
    return min(replicates, max(FEWEST_REPLICATES, MOST_DRAWS // work))


def bootstrap_name(replicates: int, *, reflected: bool = False) -> str:
    return f"row bootstrap, {'reflected, ' if reflected else ''}{replicates} replicates"


def resampled_cases(
    counts: NDArray[np.int64], *, replicates: int, rng: np.random.Generator
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """How often each of m kinds of cases occurs in resamples of all cases.

    `counts` (m,) holds the positive numbers of cases of each kind, 1 where every case is its
    own kind. Yields which replicates a batch holds and the batch, whole numbers of shape
    (b, m) that sum to the number of cases. Kinds with many cases are drawn as cells, from the
    multinomial law that drawing cases one by one would follow.
    """
    n_cases, n_kinds = int(counts.sum()), len(counts)
    by_cells = n_cases > CASES_PER_CELL * n_kinds
    kind = np.repeat(np.arange(n_kinds), counts) if n_cases > n_kinds else None
    for part in batches(replicates, n_cells=n_kinds if by_cells else n_cases):
        size = part.stop - part.start
        if by_cells:
            yield part, resampled_counts(counts, replicates=size, rng=rng).astype(np.float64)
            continue
        drawn = rng.integers(0, n_cases, size=(size, n_cases))
        places = drawn if kind is None else kind[drawn]
        places += np.arange(0, size * n_kinds, n_kinds)[:, np.newaxis]
        found = np.bincount(places.reshape(-1), minlength=size * n_kinds)
        yield part, found.reshape(size, n_kinds).astype(np.float64)
