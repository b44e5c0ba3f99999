"""Cost differences of two runs on the same samples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.many_runs.best_runs import cost_contest
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.paired.difference import KEYS, paired_cost_differences
from offdiag.metrics.paired.joint_counts import joint_counts
from support.matrices import numbered_labels, two_runs
from support.optional import present

COSTS = cost_matrix([[0, 1, 2], [5, -1, 4], [30, 20, 0.5]], labels=numbered_labels(3))


def test_a_difference_is_second_minus_first() -> None:
    joint = two_runs(n_samples=500, n_classes=3)
    first, second = (
        evaluate_costs(matrix.counts, COSTS.weights)
        for matrix in (joint.first_matrix, joint.second_matrix)
    )

    found = paired_cost_differences(joint, COSTS)

    for key in KEYS:
        value, interval = found[key]
        assert value == pytest.approx(float(second[key].value - first[key].value))
        assert present(interval.low) < (value or 0) < present(interval.high)


@pytest.mark.parametrize("prevalence", [None, np.array([0.7, 0.2, 0.1])])
def test_ratio_and_skill_are_at_least_as_uncertain_as_the_mean_cost_in_their_units(
    prevalence: NDArray[np.float64] | None,
) -> None:
    joint = two_runs(n_samples=300, n_classes=3)
    plain = evaluate_costs(joint.first_matrix.counts, COSTS.weights, prevalence=prevalence)
    right = np.diag(joint.first_matrix.actual)
    perfect = evaluate_costs(right, COSTS.weights, prevalence=prevalence)["mean_cost"].value
    trivial = float(plain["best_trivial_cost"].value) / joint.total

    found = paired_cost_differences(joint, COSTS, prevalence=prevalence)

    mean = found["mean_cost"][1]
    ratio, skill = found["cost_ratio_to_best_trivial"][1], found["skill_vs_trivial"][1]
    for each in (mean, ratio, skill):
        assert each.low is not None
        assert each.high is not None
    width = (mean.high or 0) - (mean.low or 0)
    assert (ratio.high or 0) - (ratio.low or 0) >= width / trivial * (1 - 1e-12)
    assert (skill.high or 0) - (skill.low or 0) >= width / (trivial - float(perfect)) * (1 - 1e-12)


def test_what_constant_answers_cost_varies_where_runs_differ() -> None:
    """Coverage was 91 %, of the ratio, with what constant answers cost taken as known."""
    rng, n_sets, covered = np.random.default_rng(5), 300, 0
    costs = cost_matrix([[0, 1], [20, 0]], labels=numbered_labels(2))
    for _ in range(n_sets):
        actual = (rng.random(200) < 0.5).astype(np.uint8)
        draws = rng.random((2, 200)), (0.4, 0.05)
        first, second = (
            np.where(luck < rate, 1 - actual, actual).astype(np.uint8)
            for luck, rate in zip(*draws, strict=True)
        )
        joint = joint_counts(actual=actual, first=first, second=second, labels=numbered_labels(2))
        key = "cost_ratio_to_best_trivial"
        interval = paired_cost_differences(joint, costs, keys=(key,))[key][1]
        # Always 1 costs half of the samples; errors cost 10.5 times their rate.
        covered += (interval.low or 0) <= (0.05 - 0.4) * 10.5 / 0.5 <= (interval.high or 0)
    assert covered / n_sets >= 0.92


def test_a_cost_without_a_yardstick_has_no_difference_and_no_interval() -> None:
    gains = cost_matrix([[-1, 2], [3, -1]], labels=numbered_labels(2))
    actual = np.array([0] * 20 + [1], np.uint8)
    first, second = actual.copy(), actual.copy()
    first[:3] = 1
    second[20] = 0
    joint = joint_counts(actual=actual, first=first, second=second, labels=numbered_labels(2))

    found = paired_cost_differences(joint, gains)

    assert found["mean_cost"][1].low is not None
    value, interval = found["cost_ratio_to_best_trivial"]
    assert (value, interval.low, interval.high) == (None, None, None)


def test_runs_that_agree_everywhere_have_no_interval() -> None:
    found = paired_cost_differences(two_runs(n_samples=90, n_classes=3, shared=1.0), COSTS)

    value, interval = found["mean_cost"]
    assert value == 0.0
    assert interval.low is None
    assert interval.note == "no sample on which the runs differ counts"


@pytest.mark.parametrize("prevalence", [None, np.array([0.5, 0.5])])
def test_equally_good_runs_seldom_differ_in_cost(prevalence: NDArray[np.float64] | None) -> None:
    """One was called cheaper in 12 and 10 % of data sets by resampled examples."""
    rng, n_sets, claims = np.random.default_rng(2), 300, dict.fromkeys(KEYS, 0)
    costs = cost_matrix([[0, 1], [20, 0]], labels=numbered_labels(2))
    actual = np.repeat(np.array([0, 1], np.uint8), [90, 10])
    for _ in range(n_sets):
        shared = rng.random(100)
        draws = [np.where(rng.random(100) < 0.5, shared, rng.random(100)) for _ in range(2)]
        first, second = (
            np.where(each < np.where(actual == 1, 0.3, 0.05), 1 - actual, actual).astype(np.uint8)
            for each in draws
        )
        joint = joint_counts(actual=actual, first=first, second=second, labels=numbered_labels(2))
        found = paired_cost_differences(joint, costs, prevalence=prevalence)
        for key, (_, interval) in found.items():
            claims[key] += (interval.low or 0.0) > 0 or (interval.high or 0.0) < 0
    assert max(claims.values()) / n_sets <= 0.06


def test_a_difference_in_cost_is_tested_as_the_cost_ranking_tests_it() -> None:
    joint = two_runs(n_samples=200, n_classes=3)
    runs = PairedRuns(
        np.repeat(joint.actual, joint.counts).astype(np.uint8),
        tuple(
            np.repeat(each, joint.counts).astype(np.uint8) for each in (joint.first, joint.second)
        ),
        joint.labels,
    )
    spread = cost_contest(runs, COSTS).spread

    gap, interval = paired_cost_differences(joint, COSTS, keys=("mean_cost",))["mean_cost"]

    assert gap == pytest.approx(-float(spread.linear[0, 1, 0]))
    assert interval.high is not None
    assert interval.high - (gap or 0) == pytest.approx(1.959964 * float(spread.errors[0, 0, 1]))


@pytest.mark.parametrize("prevalence", [None, np.array([0.7, 0.2, 0.1])])
def test_with_the_runs_swapped_only_the_sign_changes(
    prevalence: NDArray[np.float64] | None,
) -> None:
    joint = two_runs(n_samples=500, n_classes=3)

    gap, interval = paired_cost_differences(
        joint, COSTS, prevalence=prevalence, keys=("mean_cost",)
    )["mean_cost"]
    swapped, other = paired_cost_differences(
        joint.swapped(), COSTS, prevalence=prevalence, keys=("mean_cost",)
    )["mean_cost"]

    assert swapped == -present(gap)
    assert other.high == pytest.approx(-present(interval.low), rel=1e-12)


def test_without_cases_the_mean_cost_has_no_difference() -> None:
    nothing = np.array([], np.uint8)
    joint = joint_counts(actual=nothing, first=nothing, second=nothing, labels=numbered_labels(3))

    assert paired_cost_differences(joint, COSTS, keys=("mean_cost",))["mean_cost"][0] is None
