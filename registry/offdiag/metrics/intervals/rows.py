"""Bootstrap of cases one by one, for statistics that are no function of a confusion matrix.

Calibration errors, distances between score distributions and weighted cases need the cases
themselves. A statistic is told how often each case was drawn, which lets it sort or score
once and reuse that for every resample.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.resampling import batches, resampled_counts

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
