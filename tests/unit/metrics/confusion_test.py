"""What is accepted as a confusion matrix, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix

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
        ([["1", "2"], ["3", "4"]], "are no counts"),
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
