"""Scores must fit the samples and say which class they are for."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.scores import read_scores

TWO = LabelSet.declared(["no", "yes"])
THREE = LabelSet.declared(["a", "b", "c"])


def test_scores_of_the_positive_class_are_one_column() -> None:
    scores = read_scores([0.25, 0.5], n_samples=2, labels=TWO, positive_label="yes")

    assert scores.values.tolist() == [[0.25], [0.5]]
    assert scores.values.dtype == np.float32
    assert scores.n_columns == 1


def test_scores_of_all_classes_are_columns_in_label_order() -> None:
    scores = read_scores(np.eye(3), n_samples=3, labels=THREE, positive_label=None)

    assert scores.n_columns == 3


def test_rounding_to_single_precision_makes_no_probability_certain() -> None:
    given = [0.0, 1e-60, 1e-9, 1 - 1e-9, 1.0, -1e-60]
    scores = read_scores(given, n_samples=6, labels=TWO, positive_label="yes")

    impossible, nearly, small, almost, certain, below = scores.values[:, 0].tolist()
    assert (impossible, certain, below) == (0, 1, 0)
    assert 0 < nearly < small
    assert 1 - 1e-7 < almost < 1
    as_objects = read_scores(
        np.array(given, object), n_samples=6, labels=TWO, positive_label="yes"
    )
    assert as_objects.values.tolist() == scores.values.tolist()


@pytest.mark.parametrize(
    ("values", "labels", "positive", "sentence"),
    [
        ([0.1, float("nan")], TWO, "yes", "index 1, column 0 is nan"),
        ([0.1, float("inf")], TWO, "yes", "index 1, column 0 is inf"),
        ([0.1, 1e300], TWO, "yes", "index 1, column 0 is inf"),
        ([0.1], TWO, "yes", "1 rows of scores for 2 predictions"),
        ([0.1, 0.2], TWO, None, "not whether it is for 'no' or 'yes'"),
        ([[0.1, 0.9], [0.2, 0.8]], THREE, None, "2 columns of scores for 3 classes"),
        (np.zeros((2, 2, 2)), TWO, "yes", r"the shape is \(2, 2, 2\)"),
        (["high", "low"], TWO, "yes", "cannot be read as numbers"),
        (
            np.array([["0.1", "0.9"]]),
            TWO,
            None,
            r"^y_score: the scores cannot be read as numbers \(they are text\)\. ",
        ),
        ([[0.1, 0.9], [0.2]], TWO, None, "cannot be read as numbers"),
        (np.array([1, 2], dtype="m8[s]"), TWO, "yes", "they are dates or durations"),
        (np.array([1, 2], dtype="M8[s]"), TWO, "yes", "they are dates or durations"),
        (np.zeros(2, dtype=[("no", "f8")]), TWO, "yes", "they are records"),
    ],
)
def test_unusable_scores_are_refused_in_words(
    values: object, labels: LabelSet, positive: str | None, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence) as caught:
        read_scores(values, n_samples=2, labels=labels, positive_label=positive)

    assert caught.value.hint
