"""What models put out is read as classes and scores, or refused with its place."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.sdk.integrations.outputs import class_names, decided, named, score_columns

LABELS = LabelSet.declared(["df", "mel", "nv"])


@pytest.mark.parametrize(
    "codes", [[2, 0, 1], [2.0, 0.0, 1.0], [[0, 0, 1], [1, 0, 0], [0, 1, 0]], [[2], [0], [1]]]
)
def test_numbers_and_one_hot_rows_are_names(codes: object) -> None:
    assert named(codes, LABELS, field="y_true").tolist() == ["nv", "df", "mel"]


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 3], "the value 3 at index 1 is not a number of 3 classes"),
        ([0, -1], "the value -1 at index 1"),
        ([0, 0.5], "the value 0.5 at index 1"),
        ([0, float("nan")], "the value nan at index 1"),
        ([[0, 1], [1, 0]], r"of shape \(2, 2\) are not numbers of classes"),
        (["df"], "are not numbers of classes"),
        ([[1, 0, 0], [0, 0, 0]], r"the row \[0, 0, 0\] at index 1 has no single largest value"),
        ([[0, 1, 1], [0, 0, 1]], r"the row \[0, 1, 1\] at index 0"),
        ([[0.5, 0.25, 0.25], [0, float("nan"), 1]], r"the row \[0.0, nan, 1.0\] at index 1"),
    ],
)
def test_what_is_no_number_of_a_class_is_refused(codes: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        named(codes, LABELS, field="y_true")


def test_one_probability_is_that_of_the_second_class() -> None:
    for scores in ([0.25, 0.5, 0.75], [[0.25], [0.5], [0.75]]):
        columns = score_columns(scores)

        np.testing.assert_array_equal(columns, [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]])
        assert decided(columns).tolist() == [0, 0, 1]


@pytest.mark.parametrize("scores", [[0.25, 2.5], [[0.25], [-1.5]]])
def test_one_score_that_is_no_probability_is_refused(scores: object) -> None:
    with pytest.raises(InvalidInput, match=r"y_score: the score at index 1 is (2|-1)\.5"):
        score_columns(scores)


def test_scores_of_another_shape_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"y_score: the shape is \(2, 2, 2\)"):
        score_columns(np.zeros((2, 2, 2)))


def test_classes_without_names_are_asked_for() -> None:
    with pytest.raises(InvalidInput, match="labels: the model knows its classes by number"):
        class_names(None)
