"""Sets of labels as bits, with one bit for those that nobody knows."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.multilabel.sets import (
    are_of_one_label,
    distinct_patterns,
    has_labels,
    holds_label,
    is_known,
    label_counts,
    nothing_known,
    pack_sets,
    set_sizes,
    unpack_sets,
    with_room,
    without_room,
)

TABLE = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]], dtype=np.bool_)


def test_a_label_is_a_bit_from_the_lowest_up() -> None:
    assert pack_sets(TABLE).tolist() == [[0b101], [0], [0b010]]


@pytest.mark.parametrize("n_labels", [1, 7, 8, 9, 16, 17])
def test_packing_and_unpacking_give_the_same_sets(n_labels: int) -> None:
    sets = np.random.default_rng(n_labels).random((20, n_labels)) < 0.4

    bits = pack_sets(sets)

    assert bits.shape == (20, -(-n_labels // 8))
    assert np.array_equal(unpack_sets(bits, n_labels), sets)
    assert np.array_equal(label_counts(bits, n_labels), sets.sum(axis=0))
    assert np.array_equal(holds_label(bits, n_labels - 1), sets[:, -1])


@pytest.mark.parametrize("n_labels", [1, 3, 8, 9, 17])
def test_sets_of_one_label_are_told(n_labels: int) -> None:
    singles = np.eye(n_labels, dtype=np.bool_)

    assert are_of_one_label(pack_sets(singles))
    assert not are_of_one_label(pack_sets(np.vstack([singles, np.zeros_like(singles[:1])])))
    for other in range(1, n_labels):
        pair = singles[:1] | singles[other : other + 1]
        assert not are_of_one_label(pack_sets(np.vstack([singles, pair])))


@pytest.mark.parametrize("n_labels", [3, 8])
def test_an_unknown_set_is_no_empty_set(n_labels: int) -> None:
    unknown, empty = nothing_known(2, n_labels), pack_sets(np.zeros((2, n_labels), np.bool_))

    assert not is_known(unknown, n_labels).any()
    assert is_known(empty, n_labels).all()
    assert not unpack_sets(unknown, n_labels).any()


@pytest.mark.parametrize("n_labels", [3, 8])
def test_equal_sets_have_equal_bytes_whatever_room_they_had(n_labels: int) -> None:
    bits = pack_sets(np.ones((2, n_labels), np.bool_))

    roomy = with_room(bits, n_labels)

    assert without_room(roomy, n_labels).tobytes() == bits.tobytes()
    assert np.array_equal(unpack_sets(roomy, n_labels), unpack_sets(bits, n_labels))
    part = np.concatenate([roomy, nothing_known(1, n_labels)])
    assert np.array_equal(without_room(part, n_labels), part)


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
    assert (patterns.n_samples, patterns.n_labels) == (200, n_labels)


def test_no_cases_have_no_patterns() -> None:
    nothing = np.zeros((0, 3), dtype=np.bool_)

    patterns = distinct_patterns(nothing, nothing)

    assert patterns.n_samples == 0
    assert patterns.actual.shape == (0, 3)


def test_a_part_of_the_patterns_can_be_chosen() -> None:
    actual = np.array([[True, False], [False, False]])
    patterns = distinct_patterns(actual, actual)

    chosen = patterns.where(has_labels(patterns.actual))

    assert chosen.actual.tolist() == [[True, False]]
    assert set_sizes(chosen.actual).tolist() == [1]
