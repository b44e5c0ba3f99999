"""Costs that need nobody to state them."""

from __future__ import annotations

import pytest

from offdiag.metrics.costs.presets import prevalence_costs, zero_one_costs
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.suite import evaluate_stack
from support.matrices import matrix_of, numbered_labels

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
