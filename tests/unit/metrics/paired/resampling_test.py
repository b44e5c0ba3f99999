"""Permutation test of a metric difference."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.hypothesis_tests import mcnemar
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.paired.resampling import permutation_test
from offdiag.metrics.suite import evaluate_stack
from support.matrices import numbered_labels, two_runs


def macro_f1(stack: NDArray[np.int64]) -> NDArray[np.float64]:
    return evaluate_stack(stack, ordinal=False).aggregate["macro_f1"].value


def accuracy(stack: NDArray[np.int64]) -> NDArray[np.float64]:
    return evaluate_stack(stack, ordinal=False).aggregate["overall_accuracy"].value


def mcc(stack: NDArray[np.int64]) -> NDArray[np.float64]:
    return evaluate_stack(stack, ordinal=False).aggregate["mcc"].value


def test_all_swaps_of_a_small_sample_give_the_same_p() -> None:
    actual = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 0, 1])
    first = np.array([0, 1, 0, 1, 1, 2, 2, 2, 0, 2, 0, 1])
    second = np.array([0, 0, 2, 1, 0, 1, 0, 1, 2, 2, 1, 0])
    joint = joint_counts(actual=actual, first=first, second=second, labels=numbered_labels(3))
    swaps = np.array(list(product([False, True], repeat=12)))
    places = actual * 3, np.arange(len(swaps))[:, np.newaxis]
    stacks = []
    for chosen, other in ((first, second), (second, first)):
        cells = places[1] * 9 + places[0] + np.where(swaps, other, chosen)
        counts = np.bincount(cells.ravel(), minlength=len(swaps) * 9)
        stacks.append(counts.reshape(-1, 3, 3))
    differences = macro_f1(stacks[1]) - macro_f1(stacks[0])
    exact = (np.abs(differences) >= abs(differences[0]) - 1e-12).mean()

    found = permutation_test(joint, macro_f1, seed=1, replicates=20_000)

    assert found.difference == pytest.approx(differences[0])
    assert found.p == pytest.approx(exact, abs=0.012)


def test_for_accuracy_it_is_the_exact_test_of_mcnemar() -> None:
    joint = two_runs(n_samples=300, n_classes=3, seed=4)
    exact = mcnemar(int(joint.accuracy.only_first), int(joint.accuracy.only_second)).exact_p

    found = permutation_test(joint, accuracy, seed=1, replicates=20_000)

    assert found.p == pytest.approx(exact, abs=0.012)


def test_runs_that_agree_everywhere_do_not_differ() -> None:
    joint = two_runs(n_samples=50, n_classes=3, shared=1.0)

    found = permutation_test(joint, macro_f1, seed=1)

    assert (found.difference, found.p) == (0.0, 1.0)


def test_p_is_never_zero() -> None:
    actual = np.repeat([0, 1], 200)
    joint = joint_counts(actual=actual, first=1 - actual, second=actual, labels=numbered_labels(2))

    found = permutation_test(joint, macro_f1, seed=1, replicates=99)

    assert found.p == 0.01


def test_a_large_true_difference_is_found_and_chance_is_not() -> None:
    actual = np.random.default_rng(1).integers(0, 4, 600)
    rng = np.random.default_rng(2)
    runs = [
        np.where(rng.random(600) < right, actual, rng.integers(0, 4, 600))
        for right in (0.5, 0.5, 0.8)
    ]
    labels = numbered_labels(4)

    alike, apart = (
        permutation_test(
            joint_counts(actual=actual, first=runs[0], second=second, labels=labels),
            macro_f1,
            seed=1,
            replicates=999,
        )
        for second in runs[1:]
    )

    assert apart.p == 0.001
    assert alike.p is not None
    assert alike.p > 0.05


def test_the_same_seed_repeats_the_result() -> None:
    joint = two_runs(n_samples=200, n_classes=3)

    assert permutation_test(joint, macro_f1, seed=3, replicates=200) == permutation_test(
        joint, macro_f1, seed=3, replicates=200
    )


def test_an_undefined_metric_cannot_be_compared() -> None:
    actual = np.array([0, 0, 1])
    joint = joint_counts(
        actual=actual, first=np.zeros(3, int), second=actual, labels=numbered_labels(2)
    )

    found = permutation_test(joint, mcc, seed=1)

    assert (found.difference, found.p) == (None, None)
    assert found.reason == "component_undefined"


def test_permutations_without_a_value_count_as_extreme() -> None:
    # Swapping all or none of the two differing cases leaves one run constant.
    actual = np.array([0, 0, 0, 1, 1])
    joint = joint_counts(
        actual=actual,
        first=np.array([0, 0, 1, 0, 0]),
        second=np.array([0, 0, 0, 1, 0]),
        labels=numbered_labels(2),
    )

    found = permutation_test(joint, mcc, seed=1, replicates=999)

    assert found.undefined_share == pytest.approx(0.5, abs=0.05)
    assert found.p is not None
    assert found.p >= found.undefined_share


def test_no_cases_have_no_difference() -> None:
    nothing = np.array([], np.uint8)
    joint = joint_counts(actual=nothing, first=nothing, second=nothing, labels=numbered_labels(2))

    assert permutation_test(joint, macro_f1, seed=1).reason == "no_cases"


def test_no_replicates_are_refused() -> None:
    with pytest.raises(InvalidInput, match="replicates"):
        permutation_test(two_runs(n_samples=9, n_classes=2), macro_f1, seed=1, replicates=0)
