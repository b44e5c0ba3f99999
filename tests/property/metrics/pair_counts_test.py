"""Every pair is counted, whatever the order and the cuts of the data."""

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


@given(pairs())
def test_every_pair_is_counted_once_and_in_its_cell(drawn: Pairs) -> None:
    n_classes, actual, predicted = drawn

    counts = count_pairs(actual, predicted, n_classes=n_classes)

    assert counts.sum() == len(actual)
    for i, j in zip(actual, predicted, strict=True):
        assert counts[i, j] == np.count_nonzero((actual == i) & (predicted == j))
