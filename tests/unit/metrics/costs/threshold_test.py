"""Cost against threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.threshold import threshold_costs
from support.matrices import numbered_labels

COSTS = cost_matrix([[0, 1], [5, -0.5]], labels=numbered_labels(2))
TRUTH = np.array([1, 1, 0, 0, 1, 0, 0, 0])
SCORE = np.array([0.9, 0.7, 0.7, 0.6, 0.4, 0.4, 0.2, 0.1])


def cost_at(threshold: float) -> float:
    answer = (threshold <= SCORE).astype(int)
    return float(COSTS.weights[TRUTH, answer].sum())


def test_each_distinct_score_is_a_threshold_with_its_cost() -> None:
    found = threshold_costs(TRUTH, SCORE, COSTS)

    assert found.thresholds.tolist() == [0.9, 0.7, 0.6, 0.4, 0.2, 0.1]
    assert found.costs.tolist() == [cost_at(threshold) for threshold in found.thresholds]


def test_a_threshold_above_all_scores_answers_no_throughout() -> None:
    found = threshold_costs(TRUTH, SCORE, COSTS)

    assert found.cost_of_none == cost_at(1.0) == 15.0


def test_the_cheapest_threshold_is_named() -> None:
    found = threshold_costs(TRUTH, SCORE, COSTS)

    assert found.best_threshold == 0.4
    assert found.best_cost == cost_at(0.4) == min(found.costs)


def test_of_equally_cheap_thresholds_the_highest_is_named() -> None:
    even = cost_matrix([[0, 1], [1, 0]], labels=numbered_labels(2))

    found = threshold_costs([1, 0, 1], [3, 2, 1], even)

    assert found.costs.tolist() == [1.0, 2.0, 1.0]
    assert found.best_threshold == 3.0


def test_flagging_nothing_wins_where_alarms_are_dear() -> None:
    dear = cost_matrix([[0, 100], [1, 0]], labels=numbered_labels(2))

    found = threshold_costs([0, 1, 0], [3, 2, 1], dear)

    assert found.best_threshold is None
    assert found.best_cost == found.cost_of_none == 1.0


def test_no_cases_cost_nothing() -> None:
    found = threshold_costs([], [], COSTS)

    assert (found.best_threshold, found.best_cost, found.cost_of_none) == (None, 0.0, 0.0)


@pytest.mark.parametrize(
    ("truth", "score", "field"),
    [
        ([0, 1], [1, 2, 3], "score"),
        ([0, 2], [1, 2], "y_true"),
        ([0, 1], [1, float("nan")], "score"),
    ],
)
def test_unusable_arrays_are_refused(truth: Any, score: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        threshold_costs(truth, score, COSTS)

    assert caught.value.field == field


def test_three_classes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="A threshold needs two classes"):
        threshold_costs([0, 1], [1, 2], cost_matrix(1 - np.eye(3), labels=numbered_labels(3)))
