"""Errors of differences at the matrix of each run, on both sides of a difference."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.gradients import Gradient
from offdiag.metrics.intervals.delta import (
    SKEWED,
    SidedErrors,
    aggregate_gradients,
    errors_of_moves,
    sided_errors,
)
from offdiag.metrics.paired.class_changes import own_class_errors, sloped_changes
from offdiag.metrics.paired.joint_counts import JointCounts
from offdiag.metrics.paired.simultaneous_tests import (
    difference_errors,
    judge_together,
    sided_differences,
)
from offdiag.metrics.suite import evaluate_stack
from support.gradients import class_gradient
from support.matrices import numbered_labels, shares_of_two_runs, two_runs

CELLS = np.ndindex(2, 2, 2)
ACTUAL, FIRST, SECOND = np.array(list(CELLS)).T


def test_a_skewed_difference_reaches_farther_to_the_side_it_is_skewed_to() -> None:
    found = sided_errors(np.array([4.0, 4.0, 4.0, 0.0]), np.array([0.0, 4.0, -4.0, 0.0]))

    assert found.below == pytest.approx([2, 2, 2 * (1 + SKEWED / 2), 0])
    assert found.above == pytest.approx([2, 2 * (1 + SKEWED / 2), 2, 0])


def test_errors_of_moves_are_those_of_a_sum_over_single_samples() -> None:
    moved, counts = np.array([0.5, -2.0, 1.0, nan]), np.array([60, 3, 37, 0])
    single = np.repeat(moved[:3], counts[:3])
    apart = single - single.mean()

    found = errors_of_moves(moved, counts / 100, 1 / 100)

    expected = sided_errors(*(np.asarray((apart**power).sum() / 100**power) for power in (2, 3)))
    assert found.below == pytest.approx(float(expected.below))
    assert found.above == pytest.approx(float(expected.above))
    assert found.below > found.above
    each = errors_of_moves(single, np.full(100, 0.01), np.full(100, 0.01))
    assert each.below == pytest.approx(float(found.below))


@pytest.mark.parametrize(("difference", "near", "far"), [(0.1, 1, 2), (-0.1, 2, 1), (0.0, 2, 2)])
def test_the_side_towards_zero_is_the_nearer_one(
    difference: float, near: float, far: float
) -> None:
    found = SidedErrors(np.asarray(1.0), np.asarray(2.0)).around(np.asarray(difference))

    assert tuple(map(float, found)) == (near, far)


def test_equally_skewed_runs_have_one_error() -> None:
    joint = two_runs(n_samples=300, n_classes=3, seed=2)
    gradients = aggregate_gradients(joint.first_matrix, ["macro_f1", "mcc"])

    plain = difference_errors(joint, gradients, gradients)
    sided = sided_differences(joint, gradients, gradients)

    for key, error in plain.items():
        assert min(sided[key].below, sided[key].above) == pytest.approx(float(error))


@pytest.mark.parametrize("key", ["precision", "f1", "mcc_ovr"])
def test_errors_of_all_classes_at_once_are_those_of_each(key: str) -> None:
    joint = two_runs(n_samples=300, n_classes=4, seed=4)

    def gradients(matrix: ConfusionMatrix) -> dict[str, Gradient]:
        return {str(code): class_gradient(matrix, key, code) for code in range(4)}

    each = sided_differences(joint, gradients(joint.first_matrix), gradients(joint.second_matrix))
    found, swapped = own_class_errors(joint, key), own_class_errors(joint.swapped(), key)

    assert found.below == pytest.approx([float(each[str(code)].below) for code in range(4)])
    assert found.above == pytest.approx([float(each[str(code)].above) for code in range(4)])
    assert np.array_equal(swapped.below, found.above)


# --- a run that predicts a rare class seldom, and one that predicts it often ------------------


def unlike_shares() -> NDArray[np.float64]:
    """Of 10,000 samples 60 are of a class of which one run finds 8 %, the other 75 %."""
    return shares_of_two_runs((0.994, 0.006), ((0.9985, 0.82), (0.08, 0.75)))


def unlike(n_sets: int) -> list[JointCounts]:
    drawn = np.random.default_rng(5).multinomial(10_000, unlike_shares(), size=n_sets)
    return [joint_of(counts) for counts in drawn]


def joint_of(counts: NDArray[np.int64]) -> JointCounts:
    kept = counts > 0
    return JointCounts(ACTUAL[kept], FIRST[kept], SECOND[kept], counts[kept], numbered_labels(2))


def differences(joint: JointCounts, key: str) -> float:
    values = [
        float(evaluate_stack(each.counts, ordinal=False).aggregate[key].value)
        for each in (joint.first_matrix, joint.second_matrix)
    ]
    return values[1] - values[0]


def test_intervals_of_unlike_runs_cover_the_difference_on_both_sides() -> None:
    everything = joint_of(np.rint(unlike_shares() * 1e9).astype(np.int64))
    true = {key: differences(everything, key) for key in ("macro_f1", "mcc")}
    too_high = dict.fromkeys((*true, "mcc_ovr"), 0)
    n_sets = 250
    for joint in unlike(n_sets):
        found = {key: differences(joint, key) for key in true}
        test = judge_together(joint, found)
        for key, expected in true.items():
            low, high = test.intervals(key, critical=test.alone).bounds.at()
            assert low is not None
            assert high is not None
            too_high[key] += low > expected
        # With two classes the MCC of a class is that of the matrix.
        of_class = sloped_changes(joint, "mcc_ovr", np.full(2, found["mcc"])).alone
        too_high["mcc_ovr"] += bool(of_class.bounds.low[1] > true["mcc"])
    # Without skewness 8 %, at the pooled matrix alone 16 % of the class.
    assert max(too_high.values()) <= 0.05 * n_sets


def test_an_interval_of_unlike_runs_excludes_zero_exactly_where_t_is_beyond() -> None:
    seen = set()
    for joint in unlike(60):
        test = judge_together(joint, {key: differences(joint, key) for key in ("mcc", "macro_f1")})
        for key in test.tested:
            low, high = test.intervals(key, critical=test.alone).bounds.at()
            assert low is not None
            assert high is not None
            is_beyond = abs(test.statistics[key].t) > test.alone
            assert (low > 0 or high < 0) == is_beyond
            seen.add(is_beyond)
        mirrored = judge_together(
            joint.swapped(), {key: -differences(joint, key) for key in ("mcc", "macro_f1")}
        )
        forth, back = (
            each.intervals("mcc", critical=2.0).bounds.at() for each in (test, mirrored)
        )
        assert back == tuple(-(end or 0.0) for end in reversed(forth))
    assert seen == {True, False}
