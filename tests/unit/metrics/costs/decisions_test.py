"""Decisions by expected cost."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.costs.decisions import (
    MOST_WEIGHTS_KEPT,
    ExpectedCostRule,
    ThresholdRule,
    at_deployment,
    bayes_decisions,
    cost_threshold,
    described,
    positive_scores,
)
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix, zero_one_costs
from offdiag.metrics.costs.summary import evaluate_costs
from support.matrices import matrix_of, numbered_labels


def binary(weights: list[list[float]]) -> CostMatrix:
    return cost_matrix(weights, labels=numbered_labels(2))


TEN_TO_ONE = binary([[0, 1], [10, 0]])


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


MISS_IS_TEN = cost_matrix([[0, 1], [10, 0]], labels=numbered_labels(2))
P = np.array([[0.05], [0.2], [0.9]], np.float32)


def test_one_column_is_the_score_of_the_positive_class() -> None:
    rule = ExpectedCostRule(MISS_IS_TEN)

    assert rule.decide(P, positive=1).tolist() == [0, 1, 1]
    # The same column, read as the score of the other class.
    assert rule.decide(P, positive=0).tolist() == [1, 1, 1]


def test_equally_cheap_answers_go_to_the_lowest_code() -> None:
    rule = ExpectedCostRule(zero_one_costs(numbered_labels(2)))

    assert rule.decide(np.array([[0.5, 0.5]], np.float32), positive=None).tolist() == [0]


def test_without_cases_nothing_is_decided() -> None:
    assert (
        len(ExpectedCostRule(MISS_IS_TEN).decide(np.zeros((0, 2), np.float32), positive=None)) == 0
    )


@pytest.mark.parametrize(
    "scores", [[[1.5]], [[0.5, 0.4]], [[1.5, -0.5]], [[float("nan"), 1.0]], [[float("nan")]]]
)
def test_expected_costs_need_probabilities(scores: list[list[float]]) -> None:
    positive = 1 if len(scores[0]) == 1 else None

    with pytest.raises(InvalidInput, match="not probabilities"):
        ExpectedCostRule(MISS_IS_TEN).decide(np.array(scores, np.float32), positive=positive)


def test_a_threshold_flags_scores_at_it_and_above() -> None:
    rule = ThresholdRule(positive=1, threshold=float(np.float32(0.2)), positive_label="1")

    assert rule.decide(P, positive=1).tolist() == [0, 1, 1]


@pytest.mark.parametrize("threshold", [k / 100 for k in range(1, 100)])
def test_a_threshold_flags_a_score_that_was_given_as_the_same_number(threshold: float) -> None:
    """Some of these are stored as a little less, and some as a little more."""
    given = np.array([threshold - 1e-6, threshold, threshold + 1e-6])
    rule = ThresholdRule(1, threshold, "1")

    for stored in (given[:, np.newaxis], np.stack([1 - given, given], axis=1)):
        answers = rule.decide(stored.astype(np.float32), positive=1)
        assert answers.tolist() == [0, 1, 1]


def test_a_threshold_beyond_all_scores_flags_nothing() -> None:
    assert ThresholdRule(1, 1e300, "1").decide(P, positive=1).tolist() == [0, 0, 0]


def test_a_threshold_on_the_class_without_a_column_uses_what_is_left_to_one() -> None:
    rule = ThresholdRule(positive=0, threshold=0.5, positive_label="0")

    assert rule.decide(P, positive=1).tolist() == [0, 0, 1]


def test_scores_that_are_no_probabilities_are_negated_for_the_other_class() -> None:
    scores = np.array([[-3.0], [2.0]], np.float32)

    assert positive_scores(scores, wanted=0, positive=1).tolist() == [3.0, -2.0]
    assert positive_scores(scores, wanted=1, positive=1).tolist() == [-3.0, 2.0]


def test_other_class_shares_are_other_costs_of_the_same_cases() -> None:
    matrix = matrix_of([[90, 10], [3, 7]])
    prevalence = np.array([0.5, 0.5])
    expected = evaluate_costs(matrix.counts, MISS_IS_TEN.weights, prevalence=prevalence)

    weighed = evaluate_costs(matrix.counts, at_deployment(MISS_IS_TEN, matrix, prevalence).weights)

    assert weighed["total_cost"].at().value == pytest.approx(expected["total_cost"].at().value)
    assert at_deployment(MISS_IS_TEN, matrix, None) is MISS_IS_TEN


def test_a_rule_is_described_by_plain_values() -> None:
    rule = ThresholdRule(positive=1, threshold=None, positive_label="ill")

    assert described(rule, costs="visits@2", changes="", chosen=None) == {
        "rule": "threshold",
        "positive": "ill",
        "threshold": None,
        "costs": "visits@2",
    }


def test_the_costs_of_very_many_classes_are_not_repeated() -> None:
    many = numbered_labels(MOST_WEIGHTS_KEPT + 1)

    assert described(ExpectedCostRule(zero_one_costs(many))) == {"rule": "least_expected_cost"}
