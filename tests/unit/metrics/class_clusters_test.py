"""Classes that are confused with one another stand together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.metrics import class_clusters
from offdiag.metrics.class_clusters import clustered_order


def near_diagonal(counts: NDArray[np.int64], order: list[int], within: int) -> float:
    """Share of the errors at most `within` places off the diagonal."""
    errors = counts[np.ix_(order, order)].copy()
    np.fill_diagonal(errors, 0)
    places = np.arange(len(order))
    near = np.abs(places[:, np.newaxis] - places) <= within
    return float(errors[near].sum() / errors.sum())


def grouped(n_classes: int, n_groups: int) -> NDArray[np.int64]:
    """Classes confused inside groups whose members are scattered over the declared order."""
    generator = np.random.default_rng(7)
    group = generator.permutation(np.arange(n_classes) % n_groups)
    inside = group[:, np.newaxis] == group
    counts: NDArray[np.int64] = generator.poisson(np.where(inside, 6, 0.02))
    np.fill_diagonal(counts, 80)
    return counts


@pytest.mark.parametrize("exact", [1_000, 0])
def test_errors_gather_at_the_diagonal(exact: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_clusters, "EXACT_LEAVES", exact)
    counts = grouped(100, 20)

    assert near_diagonal(counts, list(range(100)), 4) < 0.2
    assert near_diagonal(counts, clustered_order(counts), 4) > 0.8


def test_two_pairs_are_brought_together() -> None:
    counts = np.diag([50, 50, 50, 50])
    counts[0, 2] = counts[3, 1] = 9

    order = clustered_order(counts)

    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}


def test_without_confusion_the_declared_order_stays() -> None:
    assert clustered_order(np.diag([5, 6, 7, 8])) == [0, 1, 2, 3]
    assert clustered_order(np.array([[1, 2], [3, 4]])) == [0, 1]


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=n, max_size=n
        )
    )
)
def test_every_class_is_there_once_and_always_at_the_same_place(cells: list[list[int]]) -> None:
    counts = np.array(cells, dtype=np.int64)

    assert sorted(clustered_order(counts)) == list(range(len(cells)))
    assert clustered_order(counts) == clustered_order(counts.copy())
