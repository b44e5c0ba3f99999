"""Cost matrices: matched by label, checked before use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import cost_matrix

LABELS = LabelSet(("ham", "spam"))
EXPECTED = [[0.0, 1.0], [10.0, -0.5]]


@pytest.mark.parametrize(
    "weights",
    [
        [[0, 1], [10, -0.5]],
        np.array([[0, 1], [10, -0.5]], np.float32),
        {"ham": {"ham": 0, "spam": 1}, "spam": {"ham": 10, "spam": -0.5}},
        {"spam": {"spam": -0.5, "ham": 10}, "ham": {"spam": 1, "ham": 0}},
        pd.DataFrame([[0, 1], [10, -0.5]], ["ham", "spam"], ["ham", "spam"]),
        pd.DataFrame([[-0.5, 10], [1, 0]], ["spam", "ham"], ["spam", "ham"]),
        pd.DataFrame([[10, -0.5], [0, 1]], ["spam", "ham"], ["ham", "spam"]),
    ],
)
def test_costs_are_laid_out_in_label_order(weights: Any) -> None:
    found = cost_matrix(weights, labels=LABELS, currency="EUR")

    assert found.weights.tolist() == EXPECTED
    assert found.currency == "EUR"
    assert found.n_classes == 2


def test_whole_number_labels_match_their_text() -> None:
    labels = LabelSet(("0", "1"))

    found = cost_matrix({1: {0: 10, 1: 0}, 0: {0: 0, 1: 1}}, labels=labels)

    assert found.weights.tolist() == [[0, 1], [10, 0]]


def test_costs_cannot_be_changed_afterwards() -> None:
    found = cost_matrix([[0, 1], [1, 0]], labels=LABELS)

    with pytest.raises(ValueError, match="read-only"):
        found.weights[0, 0] = 5


def test_the_array_handed_in_stays_writable() -> None:
    mine = np.array([[0.0, 1.0], [1.0, 0.0]])

    cost_matrix(mine, labels=LABELS)

    mine[0, 0] = 3.0
    assert mine[0, 0] == 3.0


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([[0, 1, 2], [3, 4, 5]], r"the shape is \(2, 3\) for 2 classes"),
        ([0, 1], r"the shape is \(2,\)"),
        ([[0, 1], [2]], "cannot be read as numbers"),
        ([["a", "b"], ["c", "d"]], "cannot be read as numbers"),
        ([[0, float("nan")], [1, 0]], "actual 'ham' predicted as 'spam' is nan"),
        ([[0, 1], [float("inf"), 0]], "actual 'spam' predicted as 'ham' is inf"),
        ([[0, 1], [None, 0]], "actual 'spam' predicted as 'ham' is nan"),
        ([[0, 0], [0, 0]], "all costs are 0"),
        ([[0, 1e300], [1, 0]], "the costs reach from 1 to 1e\\+300"),
        ([[0, 1e-300], [1, 0]], "the costs reach from 1e-300 to 1"),
        ([[0, 10**400], [1, 0]], "cannot be read as numbers"),
        ({"ham": {"ham": 0, "spam": 1}}, "there is no cost for actual 'spam'"),
        ({"ham": {"ham": 0}, "spam": {"ham": 1, "spam": 0}}, "actual 'ham', predicted 'spam'"),
        (
            {"ham": {"ham": 0, "spam": 1}, "spam": {"ham": 1, "spam": 0}, "x": {}},
            "actual 'x' is not one of the labels",
        ),
        ({"ham": 3, "spam": 4}, "the costs of actual 'ham' are 3"),
        (
            pd.DataFrame([[0, 1], [1, 0]], ["ham", "ham"], ["ham", "spam"]),
            "stands more than once among actual classes",
        ),
        (
            pd.DataFrame(
                [[0, 1], [1, 0]],
                pd.Index(["ham", "spam"], name="predicted"),
                pd.Index(["ham", "spam"], name="actual"),
            ),
            "the index is named 'predicted'",
        ),
    ],
)
def test_unusable_costs_are_refused(weights: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=text) as caught:
        cost_matrix(weights, labels=LABELS)

    assert caught.value.field == "weights"
    assert caught.value.hint


@pytest.mark.parametrize("currency", ["", "  ", "x" * 21])
def test_a_currency_is_a_short_unit(currency: str) -> None:
    with pytest.raises(InvalidInput, match="is no currency"):
        cost_matrix([[0, 1], [1, 0]], labels=LABELS, currency=currency)
