"""Distinct pairs of label sets and how often they occur."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.multilabel.patterns import distinct_patterns, has_labels, set_sizes


@pytest.mark.parametrize("n_labels", [1, 3, 4, 31, 32, 33, 64, 100])
def test_patterns_repeated_by_their_counts_are_the_cases(n_labels: int) -> None:
    generator = np.random.default_rng(n_labels)
    few = generator.random((6, 2, n_labels)) < 0.5
    cases = few[generator.integers(0, 6, 200)]
    actual, predicted = cases[:, 0], cases[:, 1]

    patterns = distinct_patterns(actual, predicted)

    rebuilt = np.concatenate(
        [
            np.repeat(patterns.actual, patterns.count, axis=0),
            np.repeat(patterns.predicted, patterns.count, axis=0),
        ],
        axis=1,
    )
    expected = np.concatenate([actual, predicted], axis=1)
    assert sorted(rebuilt.tolist()) == sorted(expected.tolist())
    assert len(patterns.count) == len({row.tobytes() for row in expected})
    assert (patterns.n_cases, patterns.n_labels) == (200, n_labels)


def test_the_order_of_cases_does_not_matter() -> None:
    generator = np.random.default_rng(0)
    actual, predicted = generator.random((2, 50, 5)) < 0.4
    shuffled = generator.permutation(50)

    patterns = distinct_patterns(actual, predicted)
    again = distinct_patterns(actual[shuffled], predicted[shuffled])

    assert np.array_equal(patterns.actual, again.actual)
    assert np.array_equal(patterns.predicted, again.predicted)
    assert np.array_equal(patterns.count, again.count)


def test_no_cases_have_no_patterns() -> None:
    nothing = np.zeros((0, 3), dtype=np.bool_)

    patterns = distinct_patterns(nothing, nothing)

    assert patterns.n_cases == 0
    assert patterns.actual.shape == (0, 3)


def test_a_part_of_the_patterns_can_be_chosen() -> None:
    actual = np.array([[True, False], [False, False]])
    patterns = distinct_patterns(actual, actual)

    chosen = patterns.where(has_labels(patterns.actual))

    assert chosen.actual.tolist() == [[True, False]]
    assert set_sizes(chosen.actual).tolist() == [1]
