"""The values that gates compare: metrics of a run, its costs, and differences of two runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from offdiag.comparison.pair import EXACT
from offdiag.comparison.sets_and_weights import compare_paired_sets
from offdiag.domain.values import MetricValue, Reason
from offdiag.gate.conditions import Differences, MetricValues
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.multilabel_runs.judged_sets import judge_sets_together
from offdiag.metrics.multilabel_runs.paired import PairedSets, has_slopes
from offdiag.metrics.paired.difference import paired_cost_differences, paired_differences
from offdiag.metrics.paired.joint_counts import JointCounts
from offdiag.services.evaluation.compute import EvaluatedValues, cost_metrics
from offdiag.services.paired_runs import NotPaired, Paired
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.runs import RunRecord


def values_with_costs(
    matrix: Counted, values: EvaluatedValues, costs: CostMatrix | None
) -> MetricValues:
    """The metrics of an evaluation, and the costs with their intervals."""
    return MetricValues(
        values.aggregate,
        values.per_class,
        None if costs is None or isinstance(matrix, CountedSets) else cost_metrics(matrix, costs),
    )


def differences(
    run: StoredRun, baseline: StoredRun, pair: Paired | NotPaired | None
) -> Differences:
    """Every metric of the run minus that of the baseline.

    In `pair` the baseline comes first and the run second; with it, differences have paired
    intervals, except those of scores, for which there are none. For runs with sample weights and
    runs on different labels all differences are undefined.
    """
    values, others = run.values, baseline.values
    if isinstance(pair, NotPaired) and pair.undefined is not None:
        return _undefined(values, pair.undefined, pair.why)
    plain = MetricValues(
        {key: _gap(value, others.aggregate.get(key)) for key, value in values.aggregate.items()},
        {
            key: _class_gaps(of_classes, others.per_class.get(key))
            for key, of_classes in values.per_class.items()
        },
        None
        if values.costs is None or others.costs is None
        else {key: _gap(value, others.costs[key]) for key, value in values.costs.items()},
    )
    if pair is None or isinstance(pair, NotPaired):
        return Differences(plain, None if pair is None else pair.why)
    if isinstance(pair, PairedSets):
        return Differences(_of_sets(plain, pair))
    return Differences(_with_paired_intervals(plain, pair, run.costs))


def _undefined(run: MetricValues, reason: Reason, why: str) -> Differences:
    """Undefined differences of all metrics, because the two runs measure different quantities."""
    nothing = MetricValue(None, reason.value)
    return Differences(
        MetricValues(
            dict.fromkeys(run.aggregate, nothing),
            {key: [nothing] * len(values) for key, values in run.per_class.items()},
            None if run.costs is None else dict.fromkeys(run.costs, nothing),
        ),
        why,
    )


def _of_sets(plain: MetricValues, pair: PairedSets) -> MetricValues:
    found = compare_paired_sets(pair)
    gaps = {key: gap.value for key, gap in plain.aggregate.items() if has_slopes(key)}
    test = judge_sets_together(
        pair, {key: math.nan if gap is None else gap for key, gap in gaps.items()}
    )
    aggregate = dict(plain.aggregate)
    for key in gaps:
        aggregate[key] = test.intervals(key, critical=test.alone).at().around(aggregate[key])
    aggregate[EXACT] = found.metric(EXACT).difference
    per_class = {**plain.per_class} | {
        key: [each.difference for each in labels] for key, labels in found.classes.items()
    }
    return MetricValues(aggregate, per_class, plain.costs)


def _with_paired_intervals(
    plain: MetricValues, joint: JointCounts, costs: CostMatrix | None
) -> MetricValues:
    found = paired_differences(joint)
    aggregate = dict(plain.aggregate)
    for key, intervals in found.aggregate_intervals.items():
        aggregate[key] = intervals.at().around(found.aggregate[key].at())
    per_class = dict(plain.per_class)
    for key, intervals in found.per_class_intervals.items():
        per_class[key] = [
            intervals.at(code).around(found.per_class[key].at(code))
            for code in range(joint.n_classes)
        ]
    if costs is None or plain.costs is None:
        return MetricValues(aggregate, per_class)
    of_costs = dict(plain.costs)
    for key, (gap, interval) in paired_cost_differences(joint, costs).items():
        if gap is not None:
            of_costs[key] = interval.around(MetricValue(gap))
    return MetricValues(aggregate, per_class, of_costs)


def _class_gaps(
    values: Sequence[MetricValue], baseline: Sequence[MetricValue] | None
) -> list[MetricValue]:
    others = [None] * len(values) if baseline is None else baseline
    return [_gap(value, other) for value, other in zip(values, others, strict=True)]


def _gap(value: MetricValue, baseline: MetricValue | None) -> MetricValue:
    """The difference without an interval; if either is undefined, undefined for its reason."""
    if value.value is None:
        return replace(value, limit=None, ci_low=None, ci_high=None, ci_method=None)
    if baseline is None:
        return MetricValue(None, "no_scores")
    if baseline.value is None:
        return MetricValue(None, baseline.reason)
    return MetricValue(value.value - baseline.value)


@dataclass(frozen=True)
class StoredRun:
    """A run with its current evaluation, and the costs of its errors, if they are known."""

    run: RunRecord
    evaluation: StoredEvaluation
    costs: CostMatrix | None

    @property
    def counted(self) -> Counted:
        return self.evaluation.counted

    @cached_property
    def values(self) -> MetricValues:
        stored = EvaluatedValues(self.evaluation.aggregate, self.evaluation.per_class)
        return values_with_costs(self.counted, stored, self.costs)
