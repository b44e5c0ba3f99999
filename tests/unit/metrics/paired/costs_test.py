"""Cost differences of two runs on the same samples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.intervals.costs import BY_PRICE
from offdiag.metrics.paired import difference as module
from offdiag.metrics.paired.best_runs import cost_contest
from offdiag.metrics.paired.difference import KEYS, paired_cost_differences
from offdiag.metrics.paired.joint import joint_counts
from offdiag.metrics.paired.runs import PairedRuns
from support.matrices import numbered_labels, two_runs

COSTS = cost_matrix([[0, 1, 2], [5, -1, 4], [30, 20, 0.5]], labels=numbered_labels(3))


def test_a_difference_is_second_minus_first() -> None:
    joint = two_runs(n_samples=500, n_classes=3)
    first, second = (
        evaluate_costs(matrix.counts, COSTS.weights)
        for matrix in (joint.first_matrix, joint.second_matrix)
    )

    found = paired_cost_differences(joint, COSTS, seed=1)

    for key in KEYS:
        value, interval = found[key]
        assert value == pytest.approx(float(second[key].value - first[key].value))
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low < (value or 0) < interval.high


@pytest.mark.parametrize("prevalence", [None, np.array([0.7, 0.2, 0.1])])
def test_the_delta_method_agrees_with_the_bootstrap(
    prevalence: NDArray[np.float64] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    joint = two_runs(n_samples=20_000, n_classes=3, seed=3)
    resampled = paired_cost_differences(
        joint, COSTS, prevalence=prevalence, seed=1, replicates=20_000
    )
    monkeypatch.setattr(module, "LARGEST_BOOTSTRAPPED", 0)

    linear = paired_cost_differences(joint, COSTS, prevalence=prevalence, seed=1)

    for key, (_, expected) in resampled.items():
        found = linear[key][1]
        assert expected.low is not None
        assert expected.high is not None
        width = expected.high - expected.low
        assert found.low == pytest.approx(expected.low, abs=0.06 * width), key
        assert found.high == pytest.approx(expected.high, abs=0.06 * width), key
        assert found.method == (
            "normal, squares of the differences" if key in BY_PRICE else "paired delta"
        )


def test_runs_that_agree_everywhere_have_no_interval() -> None:
    found = paired_cost_differences(two_runs(n_samples=90, n_classes=3, shared=1.0), COSTS, seed=1)

    value, interval = found["mean_cost"]
    assert value == 0.0
    assert interval.low is None
    assert interval.note == "no sample on which the runs differ counts"


@pytest.mark.parametrize("prevalence", [None, np.array([0.5, 0.5])])
def test_equally_good_runs_seldom_differ_in_cost(prevalence: NDArray[np.float64] | None) -> None:
    """One was called cheaper in 12 and 10 % of data sets by resampled examples."""
    rng, n_sets, claims = np.random.default_rng(2), 300, 0
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
        interval = paired_cost_differences(
            joint, costs, prevalence=prevalence, seed=1, keys=("mean_cost",)
        )["mean_cost"][1]
        claims += (interval.low or 0.0) > 0 or (interval.high or 0.0) < 0
    assert claims / n_sets <= 0.06


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

    gap, interval = paired_cost_differences(joint, COSTS, seed=1, keys=("mean_cost",))["mean_cost"]

    assert gap == pytest.approx(-float(spread.linear[0, 1, 0]))
    assert interval.high is not None
    assert interval.high - (gap or 0) == pytest.approx(1.959964 * float(spread.errors[0, 0, 1]))


def test_no_cases_have_no_differences() -> None:
    nothing = np.array([], np.uint8)
    joint = joint_counts(actual=nothing, first=nothing, second=nothing, labels=numbered_labels(3))

    assert all(
        value is None for value, _ in paired_cost_differences(joint, COSTS, seed=1).values()
    )


@pytest.mark.parametrize("prevalence", [None, np.array([0.7, 0.2, 0.1])])
@pytest.mark.parametrize("most_triples", [2_500, 0], ids=["resampled", "delta"])
def test_the_mean_cost_alone_has_the_same_difference(
    prevalence: NDArray[np.float64] | None, most_triples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_BOOTSTRAPPED", most_triples)
    joint = two_runs(n_samples=500, n_classes=3)
    expected = paired_cost_differences(joint, COSTS, prevalence=prevalence, seed=1)

    found = paired_cost_differences(
        joint, COSTS, prevalence=prevalence, seed=1, keys=("mean_cost",)
    )["mean_cost"]

    assert found == expected["mean_cost"]


@pytest.mark.parametrize("prevalence", [None, np.array([0.7, 0.2, 0.1])])
def test_with_the_runs_swapped_only_the_sign_changes(
    prevalence: NDArray[np.float64] | None,
) -> None:
    joint = two_runs(n_samples=500, n_classes=3)

    gap, interval = paired_cost_differences(
        joint, COSTS, prevalence=prevalence, seed=1, keys=("mean_cost",)
    )["mean_cost"]
    swapped, other = paired_cost_differences(
        joint.swapped(), COSTS, prevalence=prevalence, seed=1, keys=("mean_cost",)
    )["mean_cost"]

    assert gap is not None
    assert swapped == -gap
    assert interval.low is not None
    assert other.high == pytest.approx(-interval.low, rel=1e-12)


def test_without_cases_the_mean_cost_has_no_difference() -> None:
    nothing = np.array([], np.uint8)
    joint = joint_counts(actual=nothing, first=nothing, second=nothing, labels=numbered_labels(3))

    assert (
        paired_cost_differences(joint, COSTS, seed=1, keys=("mean_cost",))["mean_cost"][0] is None
    )
