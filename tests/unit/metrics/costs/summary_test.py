"""Costs of a matrix beside constant and perfect answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.costs.summary import COST_KEYS, evaluate_costs

COUNTS = np.array([[90, 10], [2, 8]])
TEN_TO_ONE = np.array([[0.0, 1.0], [10.0, 0.0]])


def costs(
    counts: NDArray[np.int64],
    weights: NDArray[np.float64],
    prevalence: NDArray[np.float64] | None = None,
) -> dict[str, float | None]:
    found = evaluate_costs(counts, weights, prevalence=prevalence)
    return {key: found[key].at().value for key in COST_KEYS}


def test_ten_to_one_costs_of_a_screening_test() -> None:
    found = costs(COUNTS, TEN_TO_ONE)

    assert found == {
        "total_cost": 30.0,
        "mean_cost": pytest.approx(30 / 110),
        "best_trivial_class": 0.0,
        "best_trivial_cost": 100.0,
        "cost_ratio_to_best_trivial": pytest.approx(0.3),
        "skill_vs_trivial": pytest.approx(0.7),
    }


def test_costs_on_the_diagonal_count() -> None:
    weights = np.array([[2.0, 5.0], [9.0, -4.0]])

    found = costs(COUNTS, weights)

    assert found["total_cost"] == 90 * 2 + 10 * 5 + 2 * 9 - 8 * 4
    assert found["best_trivial_cost"] == 100 * 2 + 10 * 9
    perfect = 100 * 2 - 10 * 4
    assert found["skill_vs_trivial"] == pytest.approx((290 - 216) / (290 - perfect))


@pytest.mark.parametrize(
    "weights", [[[0.0, 1.0], [0.0, 0.0]], [[-1.0, 0.0], [0.0, -1.0]]], ids=["free", "gain"]
)
def test_a_constant_answer_that_costs_nothing_gives_no_ratio(weights: list[list[float]]) -> None:
    found = evaluate_costs(COUNTS, np.array(weights))

    ratio = found["cost_ratio_to_best_trivial"].at()
    assert (ratio.value, ratio.reason) == (None, "trivial_cost_not_positive")
    assert found["total_cost"].at().value is not None


@pytest.mark.parametrize(
    "weights",
    [[[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]],
    ids=["one answer is free", "all the same", "being wrong is cheaper"],
)
def test_nothing_to_gain_over_a_constant_answer_gives_no_skill(
    weights: list[list[float]],
) -> None:
    skill = evaluate_costs(COUNTS, np.array(weights))["skill_vs_trivial"].at()

    assert (skill.value, skill.reason) == (None, "trivial_cost_is_perfect")


def test_the_prevalence_of_the_test_set_changes_nothing() -> None:
    tested = COUNTS.sum(axis=1) / COUNTS.sum()

    assert costs(COUNTS, TEN_TO_ONE, tested) == pytest.approx(costs(COUNTS, TEN_TO_ONE))


def test_a_declared_prevalence_weights_the_cost_of_each_class() -> None:
    # Mean cost of a negative 0.1, of a positive 2; one positive in a thousand.
    found = costs(COUNTS, TEN_TO_ONE, np.array([0.999, 0.001]))

    assert found["mean_cost"] == pytest.approx(0.999 * 0.1 + 0.001 * 2)
    assert found["total_cost"] == pytest.approx(110 * (0.999 * 0.1 + 0.001 * 2))
    assert found["best_trivial_cost"] == pytest.approx(110 * 0.001 * 10)
    assert found["cost_ratio_to_best_trivial"] == pytest.approx(0.1019 / 0.01)


def test_a_class_that_was_never_tested_cannot_be_weighted() -> None:
    counts = np.array([[5, 1], [0, 0]])

    expected = evaluate_costs(counts, TEN_TO_ONE, prevalence=np.array([0.9, 0.1]))
    unexpected = evaluate_costs(counts, TEN_TO_ONE, prevalence=np.array([1.0, 0.0]))

    assert {expected[key].at().reason for key in COST_KEYS} == {"class_absent"}
    assert unexpected["total_cost"].at().value == 1.0


def test_no_cases_cost_nothing_that_could_be_named() -> None:
    found = evaluate_costs(np.zeros((2, 2), np.int64), TEN_TO_ONE)

    assert {found[key].at().reason for key in COST_KEYS} == {"no_cases"}


def test_a_stack_gives_the_bits_of_its_matrices() -> None:
    rng = np.random.default_rng(0)
    stack = rng.integers(0, 50, (2, 3, 4, 4))
    weights = rng.normal(size=(4, 4))

    together = evaluate_costs(stack, weights)

    for place in np.ndindex(2, 3):
        alone = evaluate_costs(stack[place], weights)
        for key in COST_KEYS:
            assert together[key].at(*place) == alone[key].at()


def test_sums_run_over_cells_in_row_order() -> None:
    rng = np.random.default_rng(1)
    counts, weights = rng.integers(0, 9, (6, 6)), rng.normal(size=(6, 6))
    total = 0.0
    for actual in range(6):
        for predicted in range(6):
            total += float(counts[actual, predicted]) * float(weights[actual, predicted])

    assert costs(counts, weights)["total_cost"] == total


def test_gains_on_empty_cells_do_not_make_a_negative_zero() -> None:
    found = costs(np.array([[0, 0], [0, 3]]), np.array([[-2.0, 1.0], [1.0, 0.0]]))

    assert str(found["total_cost"]) == "0.0"
