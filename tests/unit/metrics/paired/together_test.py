"""Several metrics at one level: critical values, intervals that decide, what is left out."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from scipy.stats import norm

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.joint import JointCounts, joint_counts
from offdiag.metrics.paired.together import (
    JointTest,
    critical_value,
    judge_together,
    judge_unpaired,
)
from offdiag.metrics.suite import evaluate_stack
from support.matrices import matrix_of, numbered_labels, two_runs

KEYS = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa")


def judged(joint: JointCounts) -> JointTest:
    first, second = (
        evaluate_stack(matrix.counts, ordinal=False).aggregate
        for matrix in (joint.first_matrix, joint.second_matrix)
    )
    return judge_together(
        joint, {key: float(second[key].value - first[key].value) for key in KEYS}
    )


def test_metrics_that_move_together_need_no_correction() -> None:
    assert critical_value(np.ones((5, 5))) == pytest.approx(norm.ppf(0.975), abs=1e-6)


def test_independent_metrics_need_nearly_bonferroni() -> None:
    sidak = norm.ppf((1 + 0.95 ** (1 / 5)) / 2)

    assert critical_value(np.eye(5)) == pytest.approx(sidak, abs=0.03)
    assert critical_value(np.eye(5)) <= norm.ppf(1 - 0.025 / 5)


def test_the_scale_of_a_metric_does_not_matter() -> None:
    covariance = np.array([[1.0, 0.5], [0.5, 1.0]])
    scale = np.outer([1, 1e-3], [1, 1e-3])

    assert critical_value(covariance * scale) == pytest.approx(critical_value(covariance))


@pytest.mark.parametrize("size", [0, 1])
def test_one_metric_is_alone(size: int) -> None:
    assert critical_value(np.eye(size)) == pytest.approx(1.959964)


def test_the_critical_value_is_the_quantile_of_the_largest() -> None:
    covariance = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]])
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(3), covariance, 200_000)

    assert critical_value(covariance) == pytest.approx(
        np.quantile(np.abs(drawn).max(axis=1), 0.95), abs=0.03
    )


def test_an_interval_excludes_zero_exactly_where_t_is_beyond() -> None:
    for seed in range(8):
        test = judged(two_runs(n_cases=400, n_classes=3, seed=seed))
        for key in test.tested:
            for critical in (test.alone, test.critical):
                low, high = test.intervals(key, critical=critical).bounds.at()
                assert low is not None
                assert high is not None
                assert (low > 0 or high < 0) == (abs(test.statistics[key].t) > critical)


def test_ends_are_cut_at_the_range_of_a_difference() -> None:
    # Two cases: everything is wrong under one run and right under the other.
    joint = joint_counts(
        actual=np.array([0, 1, 0, 1]),
        first=np.array([0, 1, 0, 0]),
        second=np.array([1, 0, 1, 1]),
        labels=numbered_labels(2),
    )

    low, high = judged(joint).intervals("balanced_accuracy", critical=9.0).bounds.at()

    assert (low, high) == (-1.0, 1.0)


def test_runs_that_agree_everywhere_are_not_tested() -> None:
    test = judged(two_runs(n_cases=90, n_classes=3, shared=1.0))

    assert test.tested == ()
    assert test.left_out == KEYS
    assert test.critical == test.alone
    assert test.intervals("mcc", critical=2.0).at().low is None


def test_an_undefined_metric_takes_no_part() -> None:
    joint = two_runs(n_cases=400, n_classes=3, seed=3)

    test = judge_together(joint, {"mcc": nan, "macro_f1": 0.01})

    assert test.tested == ("macro_f1",)
    assert test.critical == test.alone
    assert test.intervals("mcc", critical=2.0).at().low is None


def test_few_samples_in_a_class_are_noted() -> None:
    joint = two_runs(n_cases=30, n_classes=3, seed=1)
    smallest = int(joint.first_matrix.actual.min())

    found = judged(joint).intervals("macro_f1", critical=2.0).at()

    assert found.note == f"unreliable, smallest class has n = {smallest}"


def test_swapping_the_runs_changes_signs_and_nothing_else() -> None:
    joint = two_runs(n_cases=500, n_classes=4, seed=6)
    there, back = judged(joint), judged(joint.swapped())

    assert back.critical == there.critical
    for key in KEYS:
        assert back.statistics[key].t == -there.statistics[key].t, key


def test_variances_of_unpaired_runs_add_up() -> None:
    first, second = matrix_of([[90, 10], [20, 80]]), matrix_of([[80, 20], [20, 80]])
    gap = {"overall_accuracy": -0.05}

    test = judge_unpaired(first, second, gap)

    # The slopes of accuracy are the same everywhere, so its variance is the binomial one.
    expected = np.sqrt(0.85 * 0.15 / 200 + 0.8 * 0.2 / 200)
    assert test.statistics["overall_accuracy"].error == pytest.approx(expected)
    assert test.statistics["overall_accuracy"].t == pytest.approx(-0.05 / expected)


def test_a_confidence_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput):
        judge_together(two_runs(n_cases=60, n_classes=3), {"mcc": 0.1}, confidence=95)
