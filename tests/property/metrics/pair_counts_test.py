"""Counting is a sum over pairs, so the order and the cuts of the data do not matter."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.metrics.pair_counts import count_pairs

Pairs = tuple[int, NDArray[np.uint16], NDArray[np.uint16]]


@st.composite
def pairs(draw: st.DrawFn) -> Pairs:
    n_classes = draw(st.sampled_from([1, 2, 3, 16, 17, 40]))
    code = st.integers(0, n_classes - 1)
    drawn = draw(st.lists(st.tuples(code, code), max_size=60))
    actual, predicted = np.array(drawn, np.uint16).reshape(-1, 2).T
    return n_classes, actual, predicted


@given(pairs(), st.lists(st.integers(0, 60), max_size=4))
def test_parts_counted_apart_add_up_to_the_whole(drawn: Pairs, cuts: list[int]) -> None:
    n_classes, actual, predicted = drawn
    places = sorted(cuts)

    parts = [
        count_pairs(part_actual, part_predicted, n_classes=n_classes)
        for part_actual, part_predicted in zip(
            np.split(actual, places), np.split(predicted, places), strict=True
        )
    ]

    whole = count_pairs(actual, predicted, n_classes=n_classes)
    assert np.array_equal(sum(parts), whole)


@given(pairs(), st.randoms(use_true_random=False))
def test_the_order_of_cases_does_not_matter(drawn: Pairs, shuffler: object) -> None:
    n_classes, actual, predicted = drawn
    order = list(range(len(actual)))
    shuffler.shuffle(order)  # type: ignore[attr-defined]  # Hypothesis types it as object.

    shuffled = count_pairs(actual[order], predicted[order], n_classes=n_classes)

    assert np.array_equal(shuffled, count_pairs(actual, predicted, n_classes=n_classes))


@given(pairs())
def test_every_pair_is_counted_once_and_in_its_cell(drawn: Pairs) -> None:
    n_classes, actual, predicted = drawn

    counts = count_pairs(actual, predicted, n_classes=n_classes)

    assert counts.sum() == len(actual)
    for i, j in zip(actual, predicted, strict=True):
        assert counts[i, j] == np.count_nonzero((actual == i) & (predicted == j))


@given(pairs())
def test_swapping_the_arrays_swaps_the_axes(drawn: Pairs) -> None:
    n_classes, actual, predicted = drawn

    swapped = count_pairs(predicted, actual, n_classes=n_classes)

    assert np.array_equal(swapped.T, count_pairs(actual, predicted, n_classes=n_classes))
