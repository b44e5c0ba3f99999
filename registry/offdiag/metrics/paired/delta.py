"""Large-sample errors of the difference of a metric between two runs of the same cases.

A case that the first run puts into cell c and the second into cell d moves the difference by
the slope of the second run's metric at d minus that of the first run's at c. The spread of
these moves over the joint counts is the variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.delta import (
    aggregate_gradients,
    class_gradients,
    range_of,
    standard_error,
)
from offdiag.metrics.intervals.dual import Dual
from offdiag.metrics.intervals.gradients import Floats, Gradient
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired.joint import JointCounts, PairedRates


def aggregate_difference_errors(joint: JointCounts, keys: Iterable[str]) -> dict[str, Floats]:
    """Standard errors of the differences of aggregates, shape (); not finite if undefined."""
    names = tuple(keys)
    return difference_errors(
        joint,
        aggregate_gradients(joint.first_matrix, names),
        aggregate_gradients(joint.second_matrix, names),
    )


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
            errors[key] = standard_error(moves, shares, n_cases=joint.total)
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
                _moves(first[key], second[key]), shares / joint.total, n_cases=joint.total
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
