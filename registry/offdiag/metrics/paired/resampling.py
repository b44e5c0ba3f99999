"""Permutation test of two runs, on the joint counts of their predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.arguments import positive_count
from offdiag.metrics.intervals.draws import batches, generator
from offdiag.metrics.paired.joint_counts import JointCounts, cell_sums

Floats = NDArray[np.float64]


def comes_before(one: JointCounts, other: JointCounts) -> bool:
    """A fixed order of two sides, the same whichever of them comes first in the call."""
    return (one.first.tobytes(), one.second.tobytes(), one.counts.tobytes()) < (
        other.first.tobytes(),
        other.second.tobytes(),
        other.counts.tobytes(),
    )


def difference(before: Floats, after: Floats) -> Floats:
    """after - before, NaN where either is not finite."""
    with np.errstate(invalid="ignore"):
        gap = after - before
    return np.where(np.isfinite(gap), gap, np.nan)


StackStatistic = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""Maps a stack (b, K, K) to one value for each matrix, shape (b,), NaN where undefined."""

SAME_DIFFERENCE = 1e-12
"""Differences closer than this are the same rational number, rounded in two ways."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """Two-sided permutation test of the difference of one metric, second minus first run.

    `undefined_share` of the permutations had no difference; they count as extreme, which can
    only raise `p`. `difference` and `p` are None, with the reason, if the metric is
    undefined for a run or there are no samples.
    """

    difference: float | None
    p: float | None
    replicates: int
    undefined_share: float
    seed: int
    reason: str | None


def permutation_test(
    joint: JointCounts, statistic: StackStatistic, *, seed: int, replicates: int = 9_999
) -> PermutationTest:
    """Compare a metric of two runs by swapping their predictions sample by sample.

    If the runs are alike, exchanging the two predictions of a sample changes nothing, so each
    sample is swapped with probability 1/2. The m samples of a triple are swapped together by one
    draw of Bin(m, 1/2), which is the same experiment for any m. p = (1 + extreme) / (1 +
    replicates), where the observed order counts as one permutation, so that p is never 0 and
    the test is exact (Phipson and Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9, 39). If the
    predictions do not differ on any sample, p is 1.

    Raises `InvalidInput` for no replicates.
    """
    count = positive_count(replicates, field="replicates")
    if joint.total == 0:
        return PermutationTest(None, None, count, 0.0, seed, Reason.NO_SAMPLES.value)
    observed = _difference(
        statistic, joint.first_matrix.counts[np.newaxis], joint.second_matrix.counts[np.newaxis]
    )[0]
    if np.isnan(observed):
        return PermutationTest(None, None, count, 0.0, seed, Reason.COMPONENT_UNDEFINED.value)
    is_swappable = joint.first != joint.second
    if not is_swappable.any():
        return PermutationTest(float(observed), 1.0, count, 0.0, seed, None)
    differences = _permuted(joint, statistic, is_swappable, seed=seed, replicates=count)
    is_undefined = np.isnan(differences)
    threshold = abs(observed) - SAME_DIFFERENCE
    extreme = int((is_undefined | (np.abs(differences) >= threshold)).sum())
    return PermutationTest(
        float(observed),
        (1 + extreme) / (1 + count),
        count,
        float(is_undefined.mean()),
        seed,
        None,
    )


def _permuted(
    joint: JointCounts,
    statistic: StackStatistic,
    is_swappable: NDArray[np.bool_],
    *,
    seed: int,
    replicates: int,
) -> NDArray[np.float64]:
    """Differences of the statistic after random swaps, shape (replicates,)."""
    size = joint.n_classes
    counts = joint.counts[is_swappable]
    first = cell_sums(joint.first_cells[is_swappable], n_classes=size)
    second = cell_sums(joint.second_cells[is_swappable], n_classes=size)
    rng = generator(seed)
    differences = np.empty(replicates)
    for part in batches(replicates, n_cells=2 * size * size + len(counts)):
        swapped = rng.binomial(counts, 0.5, size=(part.stop - part.start, len(counts)))
        # What a swap takes from one run it gives to the other, in the same actual class.
        moved = second.matrices(swapped) - first.matrices(swapped)
        differences[part] = _difference(
            statistic, joint.first_matrix.counts + moved, joint.second_matrix.counts - moved
        )
    return differences


def _difference(
    statistic: StackStatistic, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    gap = statistic(second) - statistic(first)
    return np.where(np.isfinite(gap), gap, np.nan)
