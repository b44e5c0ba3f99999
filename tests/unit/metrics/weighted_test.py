"""Matrices of sample weights."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.weighted import weighted_matrix
from support.matrices import numbered_labels

ACTUAL = np.array([0, 0, 1, 1, 2], np.uint8)
PREDICTED = np.array([0, 1, 1, 1, 0], np.uint8)


def test_weights_are_added_up_by_pair_of_classes() -> None:
    found = weighted_matrix(ACTUAL, PREDICTED, [0.5, 2, 0.25, 1, 3], labels=numbered_labels(3))

    assert found.weights.tolist() == [[0.5, 2, 0], [0, 1.25, 0], [3, 0, 0]]
    assert found.total == 6.75
    assert found.actual_cases.tolist() == [2, 2, 1]
    assert not found.weights.flags.writeable


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], "3 weights for 5 cases"),
        ([1, 1, -0.5, 1, 1], "the weight at index 2 is -0.5"),
        ([1, 1, 1, np.nan, 1], "not finite"),
        ([[1, 1, 1, 1, 1]], "the shape is"),
        (["a"] * 5, "not numeric"),
        ([1e308] * 5, "more than the largest number"),
    ],
)
def test_unusable_weights_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        weighted_matrix(ACTUAL, PREDICTED, weights, labels=numbered_labels(3))

    assert caught.value.field == "sample_weight"
