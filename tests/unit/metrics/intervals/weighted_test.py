"""Matrices of sample weights."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals import resampling
from offdiag.metrics.intervals.suite import WITHOUT_INTERVAL, SuiteIntervals, suite_intervals
from offdiag.metrics.intervals.weighted import WeightedMatrix, weighted_intervals, weighted_matrix
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack
from support.matrices import matrix_of, numbered_labels

TRUE = np.array([0, 0, 1, 1, 2], np.uint8)
PRED = np.array([0, 1, 1, 1, 0], np.uint8)


def test_weights_are_added_up_by_pair_of_classes() -> None:
    found = weighted_matrix(TRUE, PRED, [0.5, 2, 0.25, 1, 3], labels=numbered_labels(3))

    assert found.weights.tolist() == [[0.5, 2, 0], [0, 1.25, 0], [3, 0, 0]]
    assert found.total == 6.75
    assert found.actual_samples.tolist() == [2, 2, 1]
    assert not found.weights.flags.writeable


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], "3 weights for 5 samples"),
        ([1, 1, -0.5, 1, 1], "the weight at index 2 is -0.5"),
        ([1, 1, 1, np.nan, 1], "not finite"),
        ([[1, 1, 1, 1, 1]], "the shape is"),
        (["a"] * 5, "not numeric"),
        ([1e308] * 5, "more than the largest number"),
    ],
)
def test_unusable_weights_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        weighted_matrix(TRUE, PRED, weights, labels=numbered_labels(3))

    assert caught.value.field == "sample_weight"


RNG = np.random.default_rng(4)
ACTUAL = RNG.choice(3, 150, p=[0.5, 0.3, 0.2]).astype(np.uint8)
PREDICTED = np.where(RNG.random(150) < 0.7, ACTUAL, RNG.integers(0, 3, 150)).astype(np.uint8)
WEIGHT = RNG.choice([0.25, 1.0, 2.5], 150)


def matrix_with(weight: np.ndarray[tuple[int], np.dtype[np.float64]]) -> WeightedMatrix:
    return weighted_matrix(ACTUAL, PREDICTED, weight, labels=numbered_labels(3))


@pytest.fixture(scope="module")
def intervals() -> SuiteIntervals:
    return weighted_intervals(matrix_with(WEIGHT), seed=5)


def test_every_key_with_an_interval_for_counts_has_one_for_weights(
    intervals: SuiteIntervals,
) -> None:
    assert intervals.aggregate.keys() == set(AGGREGATE_KEYS) - WITHOUT_INTERVAL
    assert intervals.per_class.keys() == set(PER_CLASS_KEYS) - WITHOUT_INTERVAL
    assert {each.method for each in intervals.aggregate.values()} == {
        "row bootstrap, 2000 replicates"
    }


def test_each_interval_holds_its_value(intervals: SuiteIntervals) -> None:
    values = evaluate_stack(matrix_with(WEIGHT).weights, ordinal=True)

    for key, each in intervals.aggregate.items():
        low, high = each.bounds.at()
        value = values.aggregate[key].at().value
        assert value is not None, key
        assert low is not None, key
        assert high is not None, key
        assert low < value < high, key


def test_equal_weights_give_the_intervals_of_counts() -> None:
    counts = np.zeros((3, 3), np.int64)
    np.add.at(counts, (ACTUAL, PREDICTED), 1)
    expected = suite_intervals(matrix_of(counts), seed=1, replicates=8_000).aggregate["mcc"]

    found = weighted_intervals(matrix_with(np.full(150, 0.3)), seed=1, replicates=8_000)

    low, high = float(expected.bounds.low), float(expected.bounds.high)
    bounds = found.aggregate["mcc"].bounds
    assert bounds.low == pytest.approx(low, abs=0.04 * (high - low))
    assert bounds.high == pytest.approx(high, abs=0.04 * (high - low))


def test_accuracy_is_as_uncertain_as_a_ratio_of_weighted_means() -> None:
    is_right = ACTUAL == PREDICTED
    accuracy = (WEIGHT * is_right).sum() / WEIGHT.sum()
    error = np.sqrt(np.square(WEIGHT * (is_right - accuracy)).sum()) / WEIGHT.sum()

    found = weighted_intervals(matrix_with(WEIGHT), seed=2, replicates=8_000)

    bounds = found.aggregate["overall_accuracy"].bounds
    assert bounds.high - bounds.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_scaling_all_weights_changes_nothing(intervals: SuiteIntervals) -> None:
    scaled = weighted_intervals(matrix_with(WEIGHT * 1024), seed=5)

    for key, each in intervals.aggregate.items():
        assert scaled.aggregate[key].bounds.at() == each.bounds.at(), key


def test_batches_do_not_change_the_ends(
    intervals: SuiteIntervals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resampling, "CELLS_PER_BATCH", 700)

    again = weighted_intervals(matrix_with(WEIGHT), seed=5)

    for key, each in intervals.aggregate.items():
        assert again.aggregate[key].bounds.at() == each.bounds.at(), key


def test_small_classes_are_counted_in_cases_and_not_in_weight() -> None:
    weight = np.where(ACTUAL == 2, 1e6, 1.0)
    n_samples = int((ACTUAL == 2).sum())
    keep = np.flatnonzero(ACTUAL != 2).tolist() + np.flatnonzero(ACTUAL == 2)[:6].tolist()
    matrix = weighted_matrix(
        ACTUAL[keep], PREDICTED[keep], weight[keep], labels=numbered_labels(3)
    )

    found = weighted_intervals(matrix, seed=1, replicates=200)

    assert n_samples > 20
    assert found.aggregate["macro_f1"].at().note == "unreliable, smallest class has n = 6"


def test_weights_of_zero_leave_everything_undefined() -> None:
    found = weighted_intervals(matrix_with(np.zeros(150)), seed=1, replicates=50)

    assert found.aggregate["mcc"].bounds.at() == (None, None)
    assert found.aggregate["mcc"].at().undefined_share == 1.0
