"""Cost curves."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.costs.curve import cost_line, probability_cost
from offdiag.metrics.costs.summary import evaluate_costs
from support.matrices import matrix_of

COUNTS = [[90, 10], [2, 8]]


def test_the_line_runs_from_the_false_alarm_rate_to_the_miss_rate() -> None:
    line = cost_line(matrix_of(COUNTS), positive=1)

    cost = line.at(np.array([0.0, 0.5, 1.0]))

    assert cost == pytest.approx([0.1, 0.15, 0.2])


def test_the_curve_is_the_mean_cost_over_the_largest_possible_one() -> None:
    prevalence, miss, false_alarm = 0.03, 10.0, 1.0
    weights = np.array([[0.0, false_alarm], [miss, 0.0]])
    largest = prevalence * miss + (1 - prevalence) * false_alarm
    found = evaluate_costs(
        np.array(COUNTS), weights, prevalence=np.array([1 - prevalence, prevalence])
    )
    place = probability_cost(prevalence, miss=miss, false_alarm=false_alarm)
    assert place is not None

    cost = cost_line(matrix_of(COUNTS), positive=1).at(np.array(place))

    assert cost == pytest.approx(float(found["mean_cost"].value) / largest)


def test_the_useful_range_ends_where_a_constant_answer_is_as_cheap() -> None:
    line = cost_line(matrix_of(COUNTS), positive=1)

    ends = line.useful_range()

    assert ends is not None
    low, high = ends
    costs = line.at(np.array([low, high]))
    assert costs == pytest.approx([low, 1 - high])
    assert 0 < low < high < 1


def test_a_classifier_at_chance_is_never_useful() -> None:
    assert cost_line(matrix_of([[50, 50], [5, 5]]), positive=1).useful_range() is None


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([[5, 1], [0, 0]], "no_actual_positives"),
        ([[0, 0], [1, 5]], "no_actual_negatives"),
        ([[0, 0], [0, 0]], "no_cases"),
    ],
)
def test_one_side_alone_has_no_curve(counts: list[list[int]], reason: str) -> None:
    line = cost_line(matrix_of(counts), positive=1)

    assert line.reason == reason
    assert line.at(np.array([0.5])) is None
    assert line.useful_range() is None


@pytest.mark.parametrize("positive", [-1, 2])
def test_a_class_out_of_range_is_refused(positive: int) -> None:
    with pytest.raises(InvalidInput, match="positive: "):
        cost_line(matrix_of(COUNTS), positive=positive)


def test_probability_cost_weighs_prevalence_by_cost() -> None:
    assert probability_cost(0.01, miss=99, false_alarm=1) == pytest.approx(0.5)
    assert probability_cost(0.3, miss=0, false_alarm=0) is None


@pytest.mark.parametrize(
    ("prevalence", "miss", "field"),
    [
        (1.5, 1, "prevalence"),
        (float("nan"), 1, "prevalence"),
        (0.5, -1, "miss"),
        (0.5, float("inf"), "miss"),
    ],
)
def test_what_is_no_prevalence_or_cost_is_refused(
    prevalence: float, miss: float, field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        probability_cost(prevalence, miss=miss, false_alarm=1)

    assert caught.value.field == field
