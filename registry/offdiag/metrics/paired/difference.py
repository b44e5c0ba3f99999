"""Differences of all metrics between two runs on the same samples, each with an interval.

Proportions use Tango's score interval, everything else pooled slopes: both keep their level with
few samples. Pairing removes what the runs have in common, so these intervals are narrower than
those for the difference of two separate runs, often by far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients
from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.bounds import Bounds, Interval, Intervals, flagged, smallest_class
from offdiag.metrics.intervals.costs import cost_values
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.intervals.suite import WITHOUT_INTERVAL
from offdiag.metrics.paired import proportions
from offdiag.metrics.paired.class_changes import sloped_changes
from offdiag.metrics.paired.joint_counts import JointCounts
from offdiag.metrics.paired.proportions import shared_proportion_intervals
from offdiag.metrics.paired.resampling import difference
from offdiag.metrics.paired.simultaneous_tests import (
    NOTHING_COUNTS,
    difference_errors,
    judge_together,
)
from offdiag.metrics.quantity import Quantity, first_cause
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, labelled_suite

SAME_FOR_BOTH = frozenset({"prevalence"})
"""Facts of the ground truth, which are the same for two runs on the same samples."""

AGGREGATES = tuple(key for key in AGGREGATE_KEYS if key not in WITHOUT_INTERVAL)
PER_CLASS = tuple(key for key in PER_CLASS_KEYS if key not in WITHOUT_INTERVAL | SAME_FOR_BOTH)


POOLED_AGGREGATES = tuple(key for key in AGGREGATES if key not in proportions.AGGREGATE)
"""Aggregates whose intervals come from the test with pooled slopes, valid with few samples."""

POOLED_PER_CLASS = tuple(key for key in PER_CLASS if key not in proportions.PER_CLASS)


@dataclass(frozen=True)
class PairedDifferences:
    """Second minus first run by key: aggregates of shape (), per-class metrics (K,).

    A difference is undefined if the metric is undefined for either run, with the reason of the
    first such run. The intervals have the same keys.
    """

    aggregate: Mapping[str, Quantity]
    per_class: Mapping[str, Quantity]
    aggregate_intervals: Mapping[str, Intervals]
    per_class_intervals: Mapping[str, Intervals]
    confidence: float


def paired_differences(joint: JointCounts, *, confidence: float = 0.95) -> PairedDifferences:
    """Differences of the metrics of two runs on the same samples, with intervals.

    Two runs that agree on every sample have differences of 0 without any spread, and so no
    interval; the score intervals of recall and accuracy remain.

    Raises `InvalidInput` for a confidence outside (0, 1).
    """
    level = confidence_level(confidence)
    first = labelled_suite(joint.first_matrix.counts, joint.labels)
    second = labelled_suite(joint.second_matrix.counts, joint.labels)
    aggregate = {key: _gap(first.aggregate[key], second.aggregate[key]) for key in AGGREGATES}
    per_class = {key: _gap(first.per_class[key], second.per_class[key]) for key in PER_CLASS}
    of_aggregates = shared_proportion_intervals(joint, proportions.AGGREGATE, confidence=level)
    of_classes = shared_proportion_intervals(joint, proportions.PER_CLASS, confidence=level)
    if joint.total:
        values = {key: float(aggregate[key].value) for key in POOLED_AGGREGATES}
        test = judge_together(joint, values, confidence=level)
        of_aggregates |= {key: test.intervals(key, critical=test.alone) for key in values}
        for key in POOLED_PER_CLASS:
            changes = sloped_changes(joint, key, per_class[key].value, confidence=level)
            of_classes[key] = changes.alone
    return PairedDifferences(aggregate, per_class, of_aggregates, of_classes, level)


def _gap(first: Quantity, second: Quantity) -> Quantity:
    causes = first_cause(first.causes, second.causes)
    return Quantity(difference(first.value, second.value), causes)


BESIDE_TRIVIAL = ("cost_ratio_to_best_trivial", "skill_vs_trivial")
KEYS = ("total_cost", "mean_cost", *BESIDE_TRIVIAL)
"""The costs in which two runs on the same samples can differ."""
_LEVEL = 0.95
SQUARES = "normal, squares of the differences"
"""Method name for intervals of differences of costs."""


def paired_cost_differences(
    joint: JointCounts,
    costs: CostMatrix,
    *,
    keys: tuple[str, ...] = KEYS,
    prevalence: Floats | None = None,
) -> dict[str, tuple[float | None, Interval]]:
    """Second minus first run and its 95 % interval by key; the difference is None if undefined.

    The interval excludes 0 if chance does not explain the difference, as in the cost ranking of
    several runs: each sample's contribution is as likely to favour one run as the other,
    so the variance is the sum of the squares. Resamples only contain errors that the sample has,
    and for equally good runs they called one cheaper in up to 12 %.

    Constant and perfect answers cost the same for both runs, so ratio and skill have this
    variance in other units, or that of the delta method if it is larger: those costs vary with
    the samples, which matters if the runs do differ.
    """
    if joint.total == 0:
        return {key: (None, Interval(None, None, SQUARES)) for key in keys}
    first = cost_values(joint.first_matrix.counts, costs, prevalence)
    second = cost_values(joint.second_matrix.counts, costs, prevalence)
    gaps = {key: difference(first[key], second[key]) for key in keys}
    error = _error_of_mean(joint, costs, prevalence)
    errors = {"mean_cost": error, "total_cost": error * joint.total}
    if not set(BESIDE_TRIVIAL).isdisjoint(keys):
        errors |= _errors_beside_trivial(joint, costs, prevalence, error_of_mean=error)
    found = _normal_intervals(gaps, errors)
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


def _normal_intervals(
    values: Mapping[str, Floats], errors: Mapping[str, Floats]
) -> dict[str, Intervals]:
    """value -+ z error by key; no bounds (NaN) without a finite, positive error."""
    z = normal_quantile(_LEVEL)
    found = {}
    for key, value in values.items():
        error = errors[key]
        usable = np.isfinite(value) & np.isfinite(error) & (error > 0)
        ends = (np.where(usable, value + reach, np.nan) for reach in (-z * error, z * error))
        found[key] = Intervals(Bounds(*ends), SQUARES)
    return found


def _errors_beside_trivial(
    joint: JointCounts, costs: CostMatrix, prevalence: Floats | None, *, error_of_mean: Floats
) -> dict[str, Floats]:
    """Errors of ratio and skill by key: that of mean cost in their units, or the wider one."""
    no_errors = np.diag(joint.first_matrix.actual)
    perfect = cost_values(no_errors, costs, prevalence)["mean_cost"]
    matrices = (joint.first_matrix, joint.second_matrix)
    trivial = cost_values(matrices[0].counts, costs, prevalence)["best_trivial_cost"] / joint.total
    units = dict(zip(BESIDE_TRIVIAL, (trivial, trivial - perfect), strict=True))
    of_runs = (cost_gradients(matrix, costs, prevalence) for matrix in matrices)
    varying = difference_errors(
        joint, *({key: gradients[key] for key in BESIDE_TRIVIAL} for gradients in of_runs)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return {key: np.fmax(error_of_mean / units[key], varying[key]) for key in BESIDE_TRIVIAL}


def _error_of_mean(joint: JointCounts, costs: CostMatrix, prevalence: Floats | None) -> Floats:
    """Standard error, shape (), of the difference of mean costs if there is none."""
    gaps = costs.weights[joint.actual, joint.second] - costs.weights[joint.actual, joint.first]
    share = np.full(joint.n_classes, 1 / joint.total)
    if prevalence is not None:
        cases = joint.first_matrix.actual
        share = np.divide(prevalence, cases, out=np.zeros(len(cases)), where=cases > 0)
    return np.asarray(np.sqrt((joint.counts * (share[joint.actual] * gaps) ** 2).sum()))
