"""The headline differences of two of many runs, each with a p value that can be adjusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import erfc, isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.differences import HEADLINE
from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bootstrap import LARGEST_BOOTSTRAPPED, percentile_intervals
from offdiag.metrics.intervals.delta import DELTA
from offdiag.metrics.intervals.independent import difference_bounds
from offdiag.metrics.intervals.percentile import replicated
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.intervals.suite import LARGEST_BOOTSTRAPPED_K
from offdiag.metrics.paired.delta import aggregate_difference_errors
from offdiag.metrics.paired.delta import difference_bounds as bounds_of_error
from offdiag.metrics.paired.joint import JointCounts
from offdiag.metrics.paired.mcnemar import mcnemar
from offdiag.metrics.paired.resampling import bootstrap_name, paired_bootstrap, two_sided_p
from offdiag.metrics.paired.score_interval import METHOD, paired_score_interval
from offdiag.metrics.suite import evaluate_stack

ACCURACY = "overall_accuracy"
RESAMPLED = tuple(key for key in HEADLINE if key != ACCURACY)

Values = Mapping[str, MetricValue]


@dataclass(frozen=True, slots=True)
class Gap:
    """Second run minus first with its interval; `p` is two-sided, None where nothing is known."""

    difference: MetricValue
    p: float | None


def paired_gaps(
    joint: JointCounts,
    first: Values,
    second: Values,
    *,
    seed: int,
    confidence: float,
    replicates: int,
) -> dict[str, Gap]:
    """The headline differences of two runs on the same cases, at least one.

    `first` and `second` are their values by key. Accuracy takes the score interval and the
    exact test of McNemar, the others are resampled; with `replicates` 0, or with too many
    triples or classes to resample, they take the delta method.
    """
    rates = joint.accuracy
    low, high = paired_score_interval(rates, confidence=confidence).at()
    gaps = {key: _difference(first[key], second[key]) for key in HEADLINE}
    test = mcnemar(int(rates.only_first), int(rates.only_second))
    accuracy = _with_interval(gaps[ACCURACY], low, high, METHOD)
    defined = [key for key in RESAMPLED if gaps[key].is_defined]
    is_resampled = (
        replicates > 0
        and len(joint.counts) <= LARGEST_BOOTSTRAPPED
        and joint.n_classes <= LARGEST_BOOTSTRAPPED_K
    )
    undefined = {key: Gap(gaps[key], None) for key in RESAMPLED if key not in defined}
    found = {ACCURACY: Gap(accuracy, test.exact_p), **undefined}
    if not defined:
        return found
    if is_resampled:
        found |= _resampled(
            joint, {key: gaps[key] for key in defined}, seed, confidence, replicates
        )
    else:
        found |= _from_gradients(joint, {key: gaps[key] for key in defined}, confidence)
    return found


def unpaired_gap(first: MetricValue, second: MetricValue, *, confidence: float) -> Gap:
    """The difference of two values of different cases, from the interval of each.

    The p value belongs to the normal distribution that the end of the interval on the side of
    0 suggests, so that it is below 1 - confidence where the interval excludes 0.
    """
    gap = _difference(first, second)
    ends = difference_bounds(first, second)
    if gap.value is None or ends is None:
        return Gap(gap, None)
    reach = gap.value - ends[0] if gap.value > 0 else ends[1] - gap.value
    error = reach / normal_quantile(confidence)
    return Gap(_with_interval(gap, *ends, "square and add, unpaired"), _normal_p(gap.value, error))


def _resampled(
    joint: JointCounts, gaps: Values, seed: int, confidence: float, replicates: int
) -> dict[str, Gap]:
    def evaluate(stack: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        suite = evaluate_stack(stack, ordinal=joint.labels.has_declared_order)
        return {key: replicated(suite.aggregate[key]) for key in gaps}

    drawn = paired_bootstrap(joint, evaluate, seed=seed, replicates=replicates)
    found = {}
    for key, gap in gaps.items():
        interval = percentile_intervals(
            drawn[key],
            estimate=np.asarray(gap.value),
            confidence=confidence,
            method=bootstrap_name(replicates),
        ).at()
        p = None if interval.low is None else two_sided_p(drawn[key])
        found[key] = Gap(interval.around(gap), p)
    return found


def _from_gradients(joint: JointCounts, gaps: Values, confidence: float) -> dict[str, Gap]:
    errors = aggregate_difference_errors(joint, tuple(gaps))
    found = {}
    for key, gap in gaps.items():
        value, error = gap.value or 0.0, float(errors[key])
        low, high = bounds_of_error(
            key, np.asarray(value), errors[key], confidence=confidence
        ).at()
        p = _normal_p(value, error) if isfinite(error) and error > 0 else None
        found[key] = Gap(_with_interval(gap, low, high, f"paired {DELTA}"), p)
    return found


def _difference(first: MetricValue, second: MetricValue) -> MetricValue:
    if first.value is None or second.value is None:
        return MetricValue(None, first.reason or second.reason)
    return MetricValue(second.value - first.value)


def _with_interval(
    value: MetricValue, low: float | None, high: float | None, method: str
) -> MetricValue:
    return MetricValue(value.value, value.reason, value.limit, low, high, method)


def _normal_p(value: float, error: float) -> float:
    return erfc(abs(value) / error / sqrt(2)) if error > 0 else 1.0
