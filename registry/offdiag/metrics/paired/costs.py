"""How much two runs differ in what they cost on the same samples."""

from __future__ import annotations

import numpy as np

from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients
from offdiag.metrics.dual import Floats
from offdiag.metrics.intervals.bounds import Interval, flagged, smallest_class
from offdiag.metrics.intervals.costs import (
    BY_PRICE,
    SampleCosts,
    cost_values,
    grouped,
    normal_intervals,
)
from offdiag.metrics.intervals.delta import DELTA
from offdiag.metrics.intervals.resampling import (
    LARGEST_BOOTSTRAPPED,
    percentile_intervals_by_key,
)
from offdiag.metrics.paired.difference import difference_errors
from offdiag.metrics.paired.joint import JointCounts
from offdiag.metrics.paired.resampling import bootstrap_name, difference, paired_bootstrap

KEYS = ("total_cost", "mean_cost", "cost_ratio_to_best_trivial", "skill_vs_trivial")
"""The costs in which two runs on the same samples can differ."""


def paired_cost_differences(
    joint: JointCounts,
    costs: CostMatrix,
    *,
    keys: tuple[str, ...] = KEYS,
    prevalence: Floats | None = None,
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> dict[str, tuple[float | None, Interval]]:
    """Second minus first run and its interval by key; the difference is None if undefined.

    Cases are resampled with both their predictions, or with more than 2,500 distinct triples
    the delta method is used. Differences of total and mean cost are resampled by price, so either
    alone is found faster; the bits do not depend on which `keys` are asked for.

    Raises `InvalidInput` for a confidence outside (0, 1) or no replicates.
    """
    level = confidence_level(confidence)
    count = positive_count(replicates, field="replicates")
    method = bootstrap_name(count)
    if joint.total == 0:
        return {key: (None, Interval(None, None, method)) for key in keys}
    first = cost_values(joint.first_matrix.counts, costs, prevalence)
    second = cost_values(joint.second_matrix.counts, costs, prevalence)
    gaps = {key: difference(first[key], second[key]) for key in keys}
    if len(joint.counts) <= LARGEST_BOOTSTRAPPED:
        values: dict[str, Floats] = {}
        if not BY_PRICE.issuperset(keys):
            values = paired_bootstrap(
                joint,
                lambda stack: cost_values(stack, costs, prevalence),
                seed=seed,
                replicates=count,
            )
        pairs = pair_costs(joint, costs, prevalence)
        means = _resampled_differences(pairs, seed=seed, replicates=count)
        values |= {"mean_cost": means, "total_cost": means * joint.total}
        found = percentile_intervals_by_key(
            values, estimates=gaps, confidence=level, method=method
        )
    else:
        of_runs = (
            cost_gradients(matrix, costs, prevalence)
            for matrix in (joint.first_matrix, joint.second_matrix)
        )
        errors = difference_errors(
            joint, *({key: gradients[key] for key in keys} for gradients in of_runs)
        )
        found = normal_intervals(gaps, errors, confidence=level, method=f"paired {DELTA}")
    smallest = smallest_class(joint.first_matrix.actual)
    return {
        key: (
            float(gap) if np.isfinite(gap) else None,
            flagged(found[key], smallest, "smallest class").at(),
        )
        for key, gap in gaps.items()
    }


def pair_costs(joint: JointCounts, costs: CostMatrix, prevalence: Floats | None) -> SampleCosts:
    """The samples of two runs by how much more the second one's answer costs."""
    after = costs.weights[joint.actual, joint.second]
    before = costs.weights[joint.actual, joint.first]
    return grouped(joint.actual, after - before, joint.counts, prevalence=prevalence)


def _resampled_differences(pairs: SampleCosts, *, seed: int, replicates: int) -> Floats:
    """Differences of the mean in resamples; with the runs swapped only their signs change."""
    mirrored = pairs.negated()
    if _key(mirrored) < _key(pairs):
        return -mirrored.resampled_means(seed=seed, replicates=replicates)
    return pairs.resampled_means(seed=seed, replicates=replicates)


def _key(pairs: SampleCosts) -> tuple[bytes, bytes]:
    return pairs.costs.tobytes(), pairs.counts.tobytes()
