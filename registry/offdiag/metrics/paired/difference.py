"""How much two runs differ on the same samples: every metric, each with an interval.

The methods are those of a single matrix, paired: Tango's score interval for proportions of the
same cases, pooled slopes for the other metrics of the whole matrix, and for the other metrics of
classes the bootstrap of the joint counts, or the delta method if there are many. Pairing removes
what the runs have in common, so these intervals are narrower than those of two separate runs,
often by far.

For the delta method, a sample that the first run puts into cell c and the second into cell d moves
the difference by the slope of the second run's metric at d minus that of the first run's at c.
The spread of these moves over the joint counts is the variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients
from offdiag.metrics.dual import Dual, Floats, Gradient
from offdiag.metrics.intervals.bounds import (
    Bounds,
    Interval,
    Intervals,
    exact_intervals,
    flagged,
    smallest_class,
)
from offdiag.metrics.intervals.costs import cost_values, normal_intervals
from offdiag.metrics.intervals.delta import (
    DELTA,
    class_gradients,
    range_of,
    standard_error,
)
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.intervals.resampling import (
    LARGEST_BOOTSTRAPPED,
    percentile_intervals_by_key,
    replicated,
)
from offdiag.metrics.intervals.suite import LARGEST_BOOTSTRAPPED_K, WITHOUT_INTERVAL
from offdiag.metrics.paired import proportions
from offdiag.metrics.paired.class_changes import SLOPED, sloped_changes
from offdiag.metrics.paired.joint import JointCounts, PairedRates
from offdiag.metrics.paired.pooled_slopes import NOTHING_COUNTS, judge_together
from offdiag.metrics.paired.proportions import shared_proportion_intervals
from offdiag.metrics.paired.resampling import bootstrap_name, difference, paired_bootstrap
from offdiag.metrics.quantity import Quantity, first_cause
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack


def difference_errors(
    joint: JointCounts, first: Mapping[str, Gradient], second: Mapping[str, Gradient]
) -> dict[str, Floats]:
    """Standard errors of differences from the gradients of both runs, shape ()."""
    shares = joint.counts / joint.total
    errors = {}
    with np.errstate(invalid="ignore"):
        for key in first:
            moves = second[key].at(joint.actual, joint.second) - first[key].at(
                joint.actual, joint.first
            )
            errors[key] = standard_error(moves, shares, n_samples=joint.total)
    return errors


def class_difference_errors(joint: JointCounts, keys: Iterable[str]) -> dict[str, Floats]:
    """Standard errors of the differences of per-class metrics, shape (K,)."""
    names = tuple(keys)
    first = class_gradients(joint.first_matrix, names)
    second = class_gradients(joint.second_matrix, names)
    shares = np.concatenate(
        [
            _outcomes(joint.hits, np.diagonal(joint.first_matrix.counts)),
            _outcomes(
                joint.false_alarms,
                joint.first_matrix.predicted - np.diagonal(joint.first_matrix.counts),
            ),
        ]
    )
    with np.errstate(invalid="ignore"):
        return {
            key: standard_error(
                _moves(first[key], second[key]), shares / joint.total, n_samples=joint.total
            )
            for key in names
        }


def difference_bounds(key: str, value: Floats, error: Floats, *, confidence: float) -> Bounds:
    """value -+ z error within the range that differences of the metric have.

    No bounds (NaN) where value or error is not finite or the error is 0.
    """
    usable = np.isfinite(value) & np.isfinite(error) & (error > 0)
    lowest, highest = range_of(key)
    width = highest - lowest
    reach = normal_quantile(confidence) * error
    low, high = np.maximum(value - reach, -width), np.minimum(value + reach, width)
    return Bounds(np.where(usable, low, np.nan), np.where(usable, high, np.nan))


def _outcomes(rates: PairedRates, of_first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cases with the fact under both runs, the first, the second, neither: shape (4, K)."""
    both = of_first - rates.only_first
    neither = rates.cases - both - rates.only_first - rates.only_second
    return np.stack([both, rates.only_first, rates.only_second, neither])


def _moves(first: Dual, second: Dual) -> Floats:
    """Change of the difference by one case of each outcome, in the order of the shares."""
    hit, missed, alarm, rejected = first.slope
    hit_then, missed_then, alarm_then, rejected_then = second.slope
    return np.stack(
        [
            hit_then - hit,
            missed_then - hit,
            hit_then - missed,
            missed_then - missed,
            alarm_then - alarm,
            rejected_then - alarm,
            alarm_then - rejected,
            rejected_then - rejected,
        ]
    )


SAME_FOR_BOTH = frozenset({"prevalence"})
"""Facts of the ground truth, which two runs on the same samples share."""

AGGREGATES = tuple(key for key in AGGREGATE_KEYS if key not in WITHOUT_INTERVAL)
PER_CLASS = tuple(key for key in PER_CLASS_KEYS if key not in WITHOUT_INTERVAL | SAME_FOR_BOTH)


POOLED_AGGREGATES = tuple(key for key in AGGREGATES if key not in proportions.AGGREGATE)
"""Their intervals are those of the test by pooled slopes, valid with few samples."""

RESAMPLED_PER_CLASS = tuple(
    key for key in PER_CLASS if key not in {*proportions.PER_CLASS, *SLOPED}
)


@dataclass(frozen=True)
class PairedDifferences:
    """Second minus first run by key: aggregates of shape (), per-class metrics (K,).

    A difference is undefined where the metric is undefined for either run, with the reason of
    the first that is. The intervals have the same keys.
    """

    aggregate: Mapping[str, Quantity]
    per_class: Mapping[str, Quantity]
    aggregate_intervals: Mapping[str, Intervals]
    per_class_intervals: Mapping[str, Intervals]
    confidence: float
    seed: int
    replicates: int


def paired_differences(
    joint: JointCounts,
    *,
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> PairedDifferences:
    """Differences of the metrics of two runs on the same samples, with intervals.

    The same counts, seed and replicates give the same bits. With
    more than 2,500 distinct triples, or more than 200 classes, nothing is resampled and
    `replicates` is 0 in the result. Two runs that agree on every case have differences of 0
    without any spread and hence no interval; the score intervals of recall and accuracy keep
    theirs.

    Raises `InvalidInput` for a confidence outside (0, 1) or no replicates.
    """
    level = confidence_level(confidence)
    count = positive_count(replicates, field="replicates")
    ordinal = joint.labels.has_declared_order
    first = evaluate_stack(joint.first_matrix.counts, ordinal=ordinal, names=joint.labels.names)
    second = evaluate_stack(joint.second_matrix.counts, ordinal=ordinal, names=joint.labels.names)
    aggregate = {key: _gap(first.aggregate[key], second.aggregate[key]) for key in AGGREGATES}
    per_class = {key: _gap(first.per_class[key], second.per_class[key]) for key in PER_CLASS}
    of_aggregates = shared_proportion_intervals(joint, proportions.AGGREGATE, confidence=level)
    of_classes = shared_proportion_intervals(joint, proportions.PER_CLASS, confidence=level)
    is_resampled = (
        0 < len(joint.counts) <= LARGEST_BOOTSTRAPPED and joint.n_classes <= LARGEST_BOOTSTRAPPED_K
    )
    if joint.total:
        estimates = {key: per_class[key].value for key in RESAMPLED_PER_CLASS}
        if is_resampled:
            found = _resampled(joint, estimates, seed=seed, confidence=level, replicates=count)
        else:
            found = _from_gradients(joint, estimates, confidence=level)
        cases = joint.first_matrix.actual
        of_aggregates |= _pooled_aggregates(joint, aggregate, confidence=level)
        for key in SLOPED:
            changes = sloped_changes(joint, key, per_class[key].value, confidence=level)
            of_classes[key] = changes.alone
        for key in RESAMPLED_PER_CLASS:
            of_classes[key] = flagged(found[key], cases, "class")
    return PairedDifferences(
        aggregate,
        per_class,
        of_aggregates,
        of_classes,
        level,
        seed,
        count if is_resampled else 0,
    )


def _pooled_aggregates(
    joint: JointCounts, differences: Mapping[str, Quantity], *, confidence: float
) -> dict[str, Intervals]:
    values = {key: float(differences[key].value) for key in POOLED_AGGREGATES}
    test = judge_together(joint, values, confidence=confidence)
    return {key: test.intervals(key, critical=test.alone) for key in values}


def _resampled(
    joint: JointCounts,
    estimates: Mapping[str, NDArray[np.float64]],
    *,
    seed: int,
    confidence: float,
    replicates: int,
) -> dict[str, Intervals]:
    def evaluate(stack: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        suite = evaluate_stack(
            stack, ordinal=joint.labels.has_declared_order, names=joint.labels.names
        )
        return {key: replicated(suite.per_class[key]) for key in RESAMPLED_PER_CLASS}

    values = paired_bootstrap(joint, evaluate, seed=seed, replicates=replicates)
    return percentile_intervals_by_key(
        values, estimates=estimates, confidence=confidence, method=bootstrap_name(replicates)
    )


def _from_gradients(
    joint: JointCounts,
    estimates: Mapping[str, NDArray[np.float64]],
    *,
    confidence: float,
) -> dict[str, Intervals]:
    errors = class_difference_errors(joint, RESAMPLED_PER_CLASS)
    return {
        key: exact_intervals(
            difference_bounds(key, estimate, errors[key], confidence=confidence), f"paired {DELTA}"
        )
        for key, estimate in estimates.items()
    }


def _gap(first: Quantity, second: Quantity) -> Quantity:
    causes = first_cause(first.causes, second.causes)
    return Quantity(difference(first.value, second.value), causes)


BESIDE_TRIVIAL = ("cost_ratio_to_best_trivial", "skill_vs_trivial")
KEYS = ("total_cost", "mean_cost", *BESIDE_TRIVIAL)
"""The costs in which two runs on the same samples can differ."""
SQUARES = "normal, squares of the differences"
"""Of intervals of differences of costs."""


def paired_cost_differences(
    joint: JointCounts,
    costs: CostMatrix,
    *,
    keys: tuple[str, ...] = KEYS,
    prevalence: Floats | None = None,
    confidence: float = 0.95,
) -> dict[str, tuple[float | None, Interval]]:
    """Second minus first run and its interval by key; the difference is None if undefined.

    The interval excludes 0 where chance does not explain the difference, as the cost ranking of
    several runs has it: what samples add to it is as likely to count for one run as for the other,
    so its variance is the sum of the squares. Resamples hold no errors that the sample does not
    have, and of equally good runs called one cheaper in up to 12 %.

    What constant and perfect answers cost is the same for both runs, so the ratio and the skill
    have this variance in other units; or that of the delta method where it is larger, as these
    costs vary with the samples, which counts where runs do differ.

    Raises `InvalidInput` for a confidence outside (0, 1).
    """
    level = confidence_level(confidence)
    if joint.total == 0:
        return {key: (None, Interval(None, None, SQUARES)) for key in keys}
    first = cost_values(joint.first_matrix.counts, costs, prevalence)
    second = cost_values(joint.second_matrix.counts, costs, prevalence)
    gaps = {key: difference(first[key], second[key]) for key in keys}
    error = _error_of_mean(joint, costs, prevalence)
    no_errors = np.diag(joint.first_matrix.actual)
    perfect = cost_values(no_errors, costs, prevalence)["mean_cost"]
    trivial = first["best_trivial_cost"] / joint.total
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = {
            "mean_cost": error,
            "total_cost": error * joint.total,
            "cost_ratio_to_best_trivial": error / trivial,
            "skill_vs_trivial": error / (trivial - perfect),
        }
    of_runs = (
        cost_gradients(matrix, costs, prevalence)
        for matrix in (joint.first_matrix, joint.second_matrix)
    )
    varying = difference_errors(
        joint, *({key: gradients[key] for key in BESIDE_TRIVIAL} for gradients in of_runs)
    )
    errors |= {key: np.fmax(errors[key], other) for key, other in varying.items()}
    found = normal_intervals(gaps, errors, confidence=level, method=SQUARES)
    if error == 0:
        found = {key: replace(each, notes={(): NOTHING_COUNTS}) for key, each in found.items()}
    smallest = smallest_class(joint.first_matrix.actual)
    return {
        key: (
            float(gap) if np.isfinite(gap) else None,
            flagged(found[key], smallest, "smallest class").at(),
        )
        for key, gap in gaps.items()
    }


def _error_of_mean(joint: JointCounts, costs: CostMatrix, prevalence: Floats | None) -> Floats:
    """Standard error, shape (), of the difference of mean costs if there is none."""
    gaps = costs.weights[joint.actual, joint.second] - costs.weights[joint.actual, joint.first]
    share = np.full(joint.n_classes, 1 / joint.total)
    if prevalence is not None:
        cases = joint.first_matrix.actual
        share = np.divide(prevalence, cases, out=np.zeros(len(cases)), where=cases > 0)
    return np.asarray(np.sqrt((joint.counts * (share[joint.actual] * gaps) ** 2).sum()))
