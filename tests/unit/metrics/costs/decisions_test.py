"""Decisions by expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.costs.decisions import (
    bayes_decisions,
    cost_threshold,
    expected_cost_per_decision,
    expected_costs,
)
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from support.matrices import numbered_labels


def binary(weights: list[list[float]]) -> CostMatrix:
    return cost_matrix(weights, labels=numbered_labels(2))


TEN_TO_ONE = binary([[0, 1], [10, 0]])


def test_expected_cost_averages_over_the_actual_class() -> None:
    found = expected_costs([[0.8, 0.2], [0.95, 0.05]], TEN_TO_ONE)

    assert found == pytest.approx(np.array([[2.0, 0.8], [0.5, 0.95]]))


def test_the_cheapest_answer_wins_even_if_it_is_unlikely() -> None:
    assert bayes_decisions([[0.8, 0.2], [0.95, 0.05]], TEN_TO_ONE).tolist() == [1, 0]


def test_equally_cheap_answers_go_to_the_lowest_class() -> None:
    even = binary([[0, 1], [1, 0]])

    assert bayes_decisions([[0.5, 0.5]], even).tolist() == [0]


def test_the_cost_of_a_decision_is_the_mean_of_the_cheapest_answers() -> None:
    found = expected_cost_per_decision([[0.8, 0.2], [0.95, 0.05]], TEN_TO_ONE)

    assert found == pytest.approx((0.8 + 0.5) / 2)
    assert expected_cost_per_decision(np.empty((0, 2)), TEN_TO_ONE) is None


@pytest.mark.parametrize(
    ("weights", "threshold"),
    [
        ([[0, 1], [10, 0]], 1 / 11),
        ([[0, 1], [1, 0]], 0.5),
        ([[-1, 4], [20, 5]], 5 / 20),
        ([[0, 0], [10, 0]], 0.0),
    ],
)
def test_the_threshold_weighs_a_false_alarm_against_a_miss(
    weights: list[list[float]], threshold: float
) -> None:
    assert cost_threshold(binary(weights)) == pytest.approx(threshold)


def test_the_threshold_separates_the_decisions() -> None:
    costs = binary([[-1, 4], [20, 5]])
    threshold = cost_threshold(costs)
    assert threshold is not None
    positive = np.array([threshold - 1e-9, threshold + 1e-9])

    decisions = bayes_decisions(np.stack([1 - positive, positive], axis=1), costs)

    assert decisions.tolist() == [0, 1]


@pytest.mark.parametrize("weights", [[[1, 0], [0, 1]], [[1, 1], [2, 2]]])
def test_without_a_price_on_errors_no_threshold_exists(weights: list[list[float]]) -> None:
    assert cost_threshold(binary(weights)) is None


def test_three_classes_have_no_threshold() -> None:
    costs = cost_matrix(1 - np.eye(3), labels=numbered_labels(3))

    with pytest.raises(InvalidInput, match="A threshold needs two classes"):
        cost_threshold(costs)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        ([[0.5, 0.4]], "row 0 adds up to 0.9"),
        ([[0.5, 0.3, 0.2]], r"the shape is \(1, 3\) for 2 classes"),
        ([0.5, 0.5], r"the shape is \(2,\)"),
        ([[1.5, -0.5]], "is not between 0 and 1"),
        ([[float("nan"), 1.0]], "is not between 0 and 1"),
    ],
)
def test_what_are_no_probabilities_is_refused(p: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        bayes_decisions(p, TEN_TO_ONE)
