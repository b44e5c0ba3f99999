"""Matrices of sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.draws import replicated
from offdiag.metrics.intervals.proportions import AGGREGATE, PER_CLASS, wilson_of_sizes
from offdiag.metrics.intervals.suite import (
    NOISY,
    WITHOUT_INTERVAL,
    SuiteIntervals,
    suite_intervals,
)
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack
from offdiag.metrics.weighted.counts import (
    Floats,
    WeightedCounts,
    WeightedMatrix,
    weighted_matrix,
)
from offdiag.metrics.weighted.intervals import effective_proportion, weighted_suite_intervals
from support.matrices import matrix_of, numbered_labels

TRUE = np.array([0, 0, 1, 1, 2], np.uint8)
PRED = np.array([0, 1, 1, 1, 0], np.uint8)


def test_weights_are_added_up_by_pair_of_classes() -> None:
    found = weighted_matrix(TRUE, PRED, [0.5, 2, 0.25, 1, 3], labels=numbered_labels(3))

    assert found.weights.tolist() == [[0.5, 2, 0], [0, 1.25, 0], [3, 0, 0]]
    assert found.counted.weights.total == 6.75
    assert found.counted.actual_samples.tolist() == [2, 2, 1]
    assert not found.weights.flags.writeable


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], "3 weights for 5 samples"),
        ([1, 1, -0.5, 1, 1], "the weight at index 2 is -0.5"),
        ([1, 1, 1, np.nan, 1], "not finite"),
        ([[1, 1, 1, 1, 1]], "the shape is"),
        (["a"] * 5, "not numeric"),
        ([1, 1, 1e16, 1, 1], "the weight at index 2 is 1e\\+16"),
        ([1, 1, 1, 1, 1e-16], "the weight at index 4 is 1e-16"),
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


def matrix_with(weight: NDArray[Any]) -> WeightedMatrix:
    return weighted_matrix(ACTUAL, PREDICTED, weight, labels=numbered_labels(3))


def intervals_of(matrix: WeightedMatrix) -> SuiteIntervals:
    found = matrix.counted
    suite = evaluate_stack(found.sums, ordinal=True, names=found.labels.names)
    return weighted_suite_intervals(found, suite, seed=1)


@pytest.fixture(scope="module")
def intervals() -> SuiteIntervals:
    return intervals_of(matrix_with(WEIGHT))


def test_every_key_with_an_interval_for_counts_has_one_for_weights(
    intervals: SuiteIntervals,
) -> None:
    assert intervals.aggregate.keys() == set(AGGREGATE_KEYS) - WITHOUT_INTERVAL
    assert intervals.per_class.keys() == set(PER_CLASS_KEYS) - WITHOUT_INTERVAL


def test_each_interval_holds_its_value(intervals: SuiteIntervals) -> None:
    values = evaluate_stack(matrix_with(WEIGHT).weights, ordinal=True)

    for key, each in intervals.aggregate.items():
        if key in NOISY:
            continue
        low, high = each.bounds.at()
        value = values.aggregate[key].at().value
        assert value is not None, key
        assert low is not None, key
        assert high is not None, key
        assert low < value < high, key


def test_equal_weights_give_the_wilson_intervals_of_counts() -> None:
    counts = np.zeros((3, 3), np.int64)
    np.add.at(counts, (ACTUAL, PREDICTED), 1)
    expected = suite_intervals(matrix_of(counts), seed=1)

    found = intervals_of(matrix_with(np.full(150, 0.3)))

    for key in ("recall", "precision", "f1", "specificity"):
        assert found.per_class[key].bounds.low == pytest.approx(
            expected.per_class[key].bounds.low, rel=1e-12
        ), key
    low, high = expected.aggregate["overall_accuracy"].bounds.at()
    assert found.aggregate["overall_accuracy"].bounds.at() == pytest.approx((low, high))


def test_accuracy_is_as_uncertain_as_a_ratio_of_weighted_means() -> None:
    is_right = ACTUAL == PREDICTED
    accuracy = (WEIGHT * is_right).sum() / WEIGHT.sum()
    variance = np.square(WEIGHT * (is_right - accuracy)).sum() / WEIGHT.sum() ** 2
    size = accuracy * (1 - accuracy) / variance

    share, found = effective_proportion(matrix_with(WEIGHT).counted, AGGREGATE["overall_accuracy"])

    assert share == pytest.approx(accuracy)
    # Two samples of expected weight on each side move it a little.
    assert found == pytest.approx(size, rel=0.005)


def test_a_class_without_false_alarms_yet_has_a_low_lower_end_where_they_would_be_heavy() -> None:
    actual = np.repeat(np.array([0, 1], np.uint8), [40, 40])
    light = np.where(actual == 0, 0.01, 1.0)

    def lowest(weight: Floats) -> float:
        counted = WeightedCounts.of_samples(actual, actual, weight, LabelSet(("light", "heavy")))
        share, size = effective_proportion(counted, PER_CLASS["precision"])
        return float(wilson_of_sizes(share * size, size).low[0])

    assert lowest(np.ones(80)) == pytest.approx(0.912, abs=0.001)
    # One false alarm would weigh as much as all 40 hits, and more than two.
    assert lowest(light) < 0.2


def test_averages_are_as_uncertain_as_resamples_of_the_samples_say() -> None:
    rng = np.random.default_rng(8)
    drawn = rng.integers(0, 150, (4_000, 150))
    stack = np.zeros((4_000, 3, 3))
    rows = np.repeat(np.arange(4_000), 150)
    places = rows, ACTUAL[drawn].ravel(), PREDICTED[drawn].ravel()
    np.add.at(stack, places, WEIGHT[drawn].ravel())
    stack = np.round(stack * 4)
    values = evaluate_stack(stack.astype(np.int64), ordinal=True).aggregate

    found = intervals_of(matrix_with(WEIGHT)).aggregate

    for key in ("mcc", "macro_f1", "cohen_kappa", "weighted_precision"):
        low, high = found[key].bounds.at()
        assert low is not None, key
        assert high is not None, key
        spread = float(np.std(replicated(values[key])))
        assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.1), key


def test_scaling_all_weights_changes_nothing(intervals: SuiteIntervals) -> None:
    scaled = intervals_of(matrix_with(WEIGHT * 1024))

    for key, each in intervals.aggregate.items():
        assert scaled.aggregate[key].bounds.at() == each.bounds.at(), key


def test_small_classes_are_counted_in_effective_sizes_and_not_in_weight() -> None:
    weight = np.where(ACTUAL == 2, 1e6, 1.0)
    n_samples = int((ACTUAL == 2).sum())
    keep = np.flatnonzero(ACTUAL != 2).tolist() + np.flatnonzero(ACTUAL == 2)[:6].tolist()
    matrix = weighted_matrix(
        ACTUAL[keep], PREDICTED[keep], weight[keep], labels=numbered_labels(3)
    )

    found = intervals_of(matrix)

    assert n_samples > 20
    assert found.aggregate["macro_f1"].at().note == "unreliable, smallest class has n = 6"


def test_weights_of_zero_leave_everything_undefined() -> None:
    found = intervals_of(matrix_with(np.zeros(150)))

    assert found.aggregate["mcc"].bounds.at() == (None, None)
