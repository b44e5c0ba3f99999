"""Resampling cases without touching them: a multinomial draw of the cells.

Drawing N of N cases with replacement puts each draw into cell (i, j) with probability
c_ij / N, independently, so the resampled matrix is Multinomial(N, C / N) exactly. A replicate
therefore costs as much as there are occupied cells, however many cases there are. This holds
for every statistic of the counts; it does not for statistics of scores, for fractional
weights, or for cases that come in clusters.
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
