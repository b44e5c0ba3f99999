"""Bootstrap of two runs together, on the joint counts of what they predict."""

from __future__ import annotations

import numpy as np

from offdiag.metrics.intervals.bootstrap import Evaluate, Floats
from offdiag.metrics.intervals.resampling import batches, generator, resampled_counts
from offdiag.metrics.paired.cell_sums import cell_sums
from offdiag.metrics.paired.joint import JointCounts


def paired_bootstrap(
    joint: JointCounts, evaluate: Evaluate, *, seed: int, replicates: int
) -> dict[str, Floats]:
    """Second minus first run in resamples, by key: (replicates,) or (replicates, K).

    Cases are drawn with both their predictions, so what the runs have in common cancels. A
    difference is NaN where either value is undefined or tends to infinity. `joint` holds at
    least one case. With the runs swapped all values change their sign and nothing else.
    """
    mirrored = joint.swapped()
    if comes_before(mirrored, joint):
        found = _bootstrap(mirrored, evaluate, seed=seed, replicates=replicates)
        return {key: -values for key, values in found.items()}
    return _bootstrap(joint, evaluate, seed=seed, replicates=replicates)


def comes_before(one: JointCounts, other: JointCounts) -> bool:
    """An order of two sides that does not depend on which of them is asked about first."""
    return (one.first.tobytes(), one.second.tobytes(), one.counts.tobytes()) < (
        other.first.tobytes(),
        other.second.tobytes(),
        other.counts.tobytes(),
    )


def _bootstrap(
    joint: JointCounts, evaluate: Evaluate, *, seed: int, replicates: int
) -> dict[str, Floats]:
    size = joint.n_classes
    first = cell_sums(joint.first_cells, n_classes=size)
    second = cell_sums(joint.second_cells, n_classes=size)
    rng = generator(seed)
    values: dict[str, Floats] = {}
    for part in batches(replicates, n_cells=2 * size * size + len(joint.counts)):
        draws = resampled_counts(joint.counts, replicates=part.stop - part.start, rng=rng)
        before, after = evaluate(first.matrices(draws)), evaluate(second.matrices(draws))
        for key, found in after.items():
            if key not in values:
                values[key] = np.empty((replicates, *found.shape[1:]))
            values[key][part] = difference(before[key], found)
    return values


def bootstrap_name(replicates: int) -> str:
    return f"paired multinomial bootstrap, {replicates} replicates"


def difference(before: Floats, after: Floats) -> Floats:
    """after - before, NaN where either is not finite."""
    with np.errstate(invalid="ignore"):
        gap = after - before
    return np.where(np.isfinite(gap), gap, np.nan)
