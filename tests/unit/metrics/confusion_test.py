"""What is accepted as a confusion matrix, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.metrics import confusion
from offdiag.metrics.confusion import (
    ConfusionMatrix,
    clustered_order,
    confusion_matrix,
    notes_on_matrix,
)

ROWS, COLUMNS = SourceOrientation.ACTUAL_ROWS, SourceOrientation.ACTUAL_COLUMNS


def test_actual_columns_are_turned_into_rows() -> None:
    matrix = confusion_matrix([[8, 1], [3, 5]], orientation=COLUMNS)

    assert matrix.counts.tolist() == [[8, 3], [1, 5]]
    assert matrix.actual.tolist() == [11, 6]
    assert matrix.predicted.tolist() == [9, 8]


@pytest.mark.parametrize(
    "cells",
    [
        [[1, 2], [3, 4]],
        [[1.0, 2.0], [3.0, 4.0]],
        np.array([[1, 2], [3, 4]], np.uint8),
        np.array([[1, 2], [3, 4]], dtype=object),
    ],
)
def test_whole_numbers_of_any_type_are_counts(cells: Any) -> None:
    matrix = confusion_matrix(cells, orientation=ROWS)

    assert matrix.counts.dtype == np.int64
    assert matrix.counts.tolist() == [[1, 2], [3, 4]]
    assert matrix.total == 10


def test_a_matrix_without_names_numbers_its_classes() -> None:
    matrix = confusion_matrix(np.eye(3, dtype=int), orientation=ROWS)

    assert matrix.labels.names == ("0", "1", "2")
    assert matrix.labels.has_declared_order


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([1, 2, 3], "the shape is"),
        ([[1, 2, 3], [4, 5, 6]], "the shape is"),
        ([], "the shape is"),
        ([[1, -2], [3, 4]], r"cell \[0\]\[1\] = -2 is negative"),
        ([[1.0, 2.0], [3.5, 4.0]], r"cell \[1\]\[0\] = 3.5 is not whole"),
        ([[1.0, np.nan], [3.0, 4.0]], r"cell \[0\]\[1\] = nan is not finite"),
        ([[1.0, np.inf], [3.0, 4.0]], r"cell \[0\]\[1\] = inf is not finite"),
        ([["1", "2"], ["3", "4"]], "are not counts"),
        ([[None, 2], [3, 4]], "not a whole number"),
        ([[2**61, 0], [0, 2**61]], "add up to"),
        ([[2**80, 0], [0, 1]], "add up to"),
        ([[1e19, 0.0], [0.0, 1.0]], "add up to"),
    ],
)
def test_anything_else_is_refused_and_named(cells: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refusal:
        confusion_matrix(cells, orientation=ROWS)

    assert refusal.value.field == "matrix"
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("cells", "noted"),
    [
        (np.eye(3), "every row of the matrix adds up to 1"),
        ([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "every row"),
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], "every column"),
        (np.eye(3, dtype=np.int64), None),
        (np.eye(3, dtype=np.bool_), None),
        (np.eye(2), None),
        (2.0 * np.eye(3), None),
        (np.zeros((3, 3)), None),
    ],
)
def test_decimals_that_may_be_shares_are_noted(cells: Any, noted: str | None) -> None:
    notes = notes_on_matrix(cells)

    assert len(notes) == (noted is not None)
    assert (noted or "") in "".join(notes)


@pytest.mark.parametrize(
    ("cells", "noted"),
    [
        ([[3, 2, 5], [1, 4, 5], [4, 6, 10]], True),
        ([[3.0, 2.0, 5.0], [1.0, 4.0, 5.0], [4.0, 6.0, 10.0]], True),
        ([[3, 2, 5], [1, 4, 6], [4, 6, 11]], False),
        ([[3, 2, 5], [1, 4, 5], [4, 6, 9]], False),
        ([[5, 5], [5, 5]], False),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], False),
    ],
)
def test_a_last_class_of_totals_is_noted(cells: Any, *, noted: bool) -> None:
    notes = notes_on_matrix(cells)

    assert len(notes) == noted
    assert all("are the sums of the others" in note for note in notes)


@pytest.mark.parametrize(
    ("cells", "noted"),
    [
        ([[95, 5], [10, 90]], "every row of the matrix adds up to 100, as percentages do; it was"),
        ([[95.0, 10.0], [5.0, 90.0]], "every column of the matrix adds up to 100,"),
        ([[33, 33, 33], [10, 90, 1], [0, 0, 0]], "every row of the matrix adds up to about 100"),
        ([[95, 6], [10, 90]], None),
        ([[95, 5], [10, 80]], None),
        ([[33, 33, 33], [10, 90, 3], [0, 0, 0]], None),
        ([[100, 0, 0], [0, 0, 0], [0, 0, 1]], None),
        ([[60, 5], [10, 25]], None),
        ([[100]], None),
    ],
)
def test_counts_that_may_be_percentages_are_noted(cells: Any, noted: str | None) -> None:
    notes = notes_on_matrix(cells)

    assert len(notes) == (noted is not None)
    assert (noted or "") in "".join(notes)


def test_labels_must_fit_the_matrix() -> None:
    with pytest.raises(InvalidInput, match="2 x 2 but 3 labels") as refusal:
        confusion_matrix(
            [[1, 2], [3, 4]], labels=LabelSet.declared(["a", "b", "c"]), orientation=ROWS
        )

    assert refusal.value.field == "labels"


def test_counts_cannot_be_changed_afterwards() -> None:
    matrix = confusion_matrix([[1, 2], [3, 4]], orientation=ROWS)

    with pytest.raises(ValueError, match="read-only"):
        matrix.counts[0, 0] = 5


def test_the_array_that_was_handed_in_stays_writable() -> None:
    mine = np.array([[1, 2], [3, 4]])

    confusion_matrix(mine, orientation=ROWS)

    mine[0, 0] = 9
    assert mine[0, 0] == 9


def test_the_digest_tells_counts_and_labels_apart() -> None:
    names = LabelSet.declared(["a", "b"])
    one = ConfusionMatrix(np.array([[1, 2], [3, 4]]), names)
    same = ConfusionMatrix(np.array([[1, 2], [3, 4]]), LabelSet.declared(["a", "b"]))
    transposed = ConfusionMatrix(np.array([[1, 3], [2, 4]]), names)
    renamed = ConfusionMatrix(np.array([[1, 2], [3, 4]]), LabelSet.declared(["a", "c"]))

    assert one.digest == same.digest
    assert len({one.digest, transposed.digest, renamed.digest}) == 3


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
    monkeypatch.setattr(confusion, "EXACT_LEAVES", exact)
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


@settings(deadline=None)  # The first example imports SciPy.
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
