"""How often two equally good runs are told apart, and what the swap test says of the same data.

Runs are exchangeable: each shares 60 % of its random numbers with the other, so every metric is
truly equal and every difference that is claimed is a false one.
"""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.paired.class_changes import recall_changes
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from offdiag.metrics.paired.resampling import permutation_test
from offdiag.metrics.paired.simultaneous_tests import JointTest, judge_together
from offdiag.metrics.suite import evaluate_stack
from support.matrices import numbered_labels
from support.optional import present

KEYS = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa")
SIMULATIONS = 100
LIMIT = 0.05 + 2 * (0.05 * 0.95 / SIMULATIONS) ** 0.5


def tied_runs(n: int, shares: list[float], recall: float, rng: np.random.Generator) -> JointCounts:
    """Two runs whose errors fall on any other class."""
    size = len(shares)
    actual = rng.choice(size, n, p=shares)
    common, is_shared = rng.random((2, n)), rng.random(n) < 0.6
    runs = []
    for _ in range(2):
        drawn = np.where(is_shared, common, rng.random((2, n)))
        wrong = (actual + 1 + (drawn[1] * (size - 1)).astype(int)) % size
        runs.append(np.where(drawn[0] < recall, actual, wrong))
    return joint_counts(actual=actual, first=runs[0], second=runs[1], labels=numbered_labels(size))


def judged(joint: JointCounts) -> JointTest:
    first, second = (
        evaluate_stack(matrix.counts, ordinal=False).aggregate
        for matrix in (joint.first_matrix, joint.second_matrix)
    )
    return judge_together(
        joint, {key: float(second[key].value - first[key].value) for key in KEYS}
    )


@pytest.mark.parametrize(
    ("n", "shares"),
    [(1_000, [0.98, 0.02]), (200, [0.5, 0.3, 0.1, 0.05, 0.05])],
)
def test_ties_are_told_apart_five_times_in_a_hundred_at_most(n: int, shares: list[float]) -> None:
    rng = np.random.default_rng(2)
    claimed = named = 0
    for _ in range(SIMULATIONS):
        joint = tied_runs(n, shares, 0.85, rng)
        test = judged(joint)
        claimed += any(abs(test.statistics[key].t) > test.critical for key in test.tested)
        named += bool(recall_changes(joint.hits).is_changed.any())

    assert claimed / SIMULATIONS <= LIMIT
    assert named / SIMULATIONS <= LIMIT


def test_classes_of_twenty_are_named_five_times_in_a_hundred_at_most() -> None:
    rng = np.random.default_rng(3)

    named = sum(
        bool(recall_changes(tied_runs(1_000, [0.05] * 20, 0.85, rng).hits).is_changed.any())
        for _ in range(SIMULATIONS)
    )

    assert named / SIMULATIONS <= LIMIT


@pytest.mark.parametrize("key", KEYS)
def test_the_swap_test_gives_the_same_p(key: str) -> None:
    from scipy.special import erfc

    rng = np.random.default_rng(7)
    for _ in range(3):
        joint = tied_runs(2_000, [0.6, 0.3, 0.1], 0.8, rng)

        swapped = permutation_test(
            joint,
            lambda stack: evaluate_stack(stack, ordinal=False).aggregate[key].value,
            seed=1,
            replicates=1_999,
        )

        t = judged(joint).statistics[key].t
        assert erfc(abs(t) / np.sqrt(2)) == pytest.approx(present(swapped.p), abs=0.04)


def cautious_and_eager(n: int, rng: np.random.Generator) -> JointCounts:
    """One model at two thresholds: 2 % of the samples are positive, one run seldom says so."""
    actual = (rng.random(n) >= 0.02).astype(int)
    score = rng.standard_normal(n) + np.where(actual == 0, 1.6, 0.0)
    runs = ((score < threshold).astype(int) for threshold in (2.6, 0.9))
    return joint_counts(
        actual=actual, first=next(runs), second=next(runs), labels=numbered_labels(2)
    )


@pytest.mark.parametrize("key", ["mcc", "macro_f1", "cohen_kappa"])
def test_intervals_hold_the_difference_of_runs_that_predict_a_rare_class_seldom_and_often(
    key: str,
) -> None:
    rng = np.random.default_rng(5)
    first, second = (
        evaluate_stack(matrix.counts, ordinal=False).aggregate[key].value
        for joint in [cautious_and_eager(2_000_000, rng)]
        for matrix in (joint.first_matrix, joint.second_matrix)
    )
    held = 0
    for _ in range(SIMULATIONS):
        test = judged(cautious_and_eager(5_000, rng))
        found = test.intervals(key, critical=test.alone).at()
        held += bool(present(found.low) <= second - first <= present(found.high))

    assert held / SIMULATIONS >= 1 - LIMIT
