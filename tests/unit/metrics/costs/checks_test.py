"""What is odd about costs that can be meant."""

from __future__ import annotations

from offdiag.metrics.costs.checks import CostOddity, CostWarning, check_costs
from offdiag.metrics.costs.matrix import cost_matrix
from support.matrices import numbered_labels


def warnings(weights: list[list[float]]) -> list[CostWarning]:
    return list(check_costs(cost_matrix(weights, labels=numbered_labels(len(weights)))))


def test_ordinary_costs_are_not_odd() -> None:
    assert warnings([[0, 1, 2], [20, 0, 3], [5, 5, 0]]) == []


def test_a_class_for_which_every_answer_costs_the_same_is_named() -> None:
    assert warnings([[0, 1], [0, 0]]) == [CostWarning(CostOddity.ANSWER_DOES_NOT_MATTER, (1,))]


def test_a_price_of_the_right_answer_is_named() -> None:
    assert warnings([[-2, 1], [9, 0]]) == [CostWarning(CostOddity.RIGHT_ANSWER_IS_PRICED, (0,))]


def test_a_wrong_answer_that_is_cheaper_than_the_right_one_is_named() -> None:
    assert warnings([[0, 1], [-1, 0]]) == [CostWarning(CostOddity.ERROR_IS_CHEAPER, (1,))]


def test_a_single_class_leaves_nothing_to_get_wrong() -> None:
    assert warnings([[3]]) == []
