"""Cost matrices: matched by label, checked before use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import (
    CostOddity,
    CostWarning,
    check_costs,
    cost_matrix,
    prevalence_costs,
    zero_one_costs,
)
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.suite import evaluate_stack
from support.matrices import matrix_of, numbered_labels

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
        ([[0, 1e300], [1, 0]], "the costs range from 1 to 1e\\+300"),
        ([[0, 1e-300], [1, 0]], "the costs range from 1e-300 to 1"),
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
            "occurs more than once among actual classes",
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


@pytest.mark.parametrize("currency", ["", "  ", "x" * 21, "E\0R", "E\nR", "\u200b"])
def test_a_currency_is_a_short_unit(currency: str) -> None:
    with pytest.raises(InvalidInput, match="is not a currency"):
        cost_matrix([[0, 1], [1, 0]], labels=LABELS, currency=currency)


RARE = matrix_of([[90, 6, 4], [3, 25, 2], [0, 1, 9]])


def test_zero_one_costs_charge_every_error_alike() -> None:
    assert zero_one_costs(numbered_labels(2)).weights.tolist() == [[0, 1], [1, 0]]


def test_errors_on_a_rarer_class_cost_more() -> None:
    weights = prevalence_costs(RARE).weights

    assert weights[0].tolist() == [0, 1, 1]
    assert weights[2].tolist() == [10, 10, 0]


def test_prices_by_prevalence_rank_as_balanced_accuracy_does() -> None:
    balanced = evaluate_stack(RARE.counts, ordinal=False).aggregate["balanced_accuracy"].at().value
    assert balanced is not None

    total = evaluate_costs(RARE.counts, prevalence_costs(RARE).weights)["total_cost"].at().value

    assert total == pytest.approx(3 * 100 * (1 - balanced))


def test_a_class_without_cases_is_priced_as_if_it_had_one() -> None:
    assert prevalence_costs(matrix_of([[8, 2], [0, 0]])).weights.tolist() == [[0, 1], [10, 0]]


def warnings(weights: list[list[float]]) -> list[CostWarning]:
    return list(check_costs(cost_matrix(weights, labels=numbered_labels(len(weights)))))


def test_ordinary_costs_are_not_odd() -> None:
    assert warnings([[0, 1, 2], [20, 0, 3], [5, 5, 0]]) == []


def test_a_class_for_which_every_answer_costs_the_same_is_named() -> None:
    assert warnings([[0, 1], [0, 0]]) == [CostWarning(CostOddity.PREDICTION_DOES_NOT_MATTER, (1,))]


def test_a_price_of_the_right_answer_is_named() -> None:
    assert warnings([[-2, 1], [9, 0]]) == [CostWarning(CostOddity.CORRECT_PREDICTION_COSTS, (0,))]


def test_a_wrong_answer_that_is_cheaper_than_the_right_one_is_named() -> None:
    assert warnings([[0, 1], [-1, 0]]) == [CostWarning(CostOddity.ERROR_IS_CHEAPER, (1,))]


def test_a_single_class_leaves_nothing_to_get_wrong() -> None:
    assert warnings([[3]]) == []
