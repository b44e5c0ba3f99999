"""`offdiag.cost`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from offdiag.errors import InvalidInput
from offdiag.sdk.cost import cost
from offdiag.sdk.evaluations.evaluate import evaluate_matrix
from offdiag.sdk.evaluations.evaluation import Evaluation

COUNTS = [[90, 10], [2, 8]]
WEIGHTS = [[0, 1], [10, 0]]


def test_the_result_has_the_cost_keys_as_plain_values() -> None:
    found = cost(COUNTS, weights=WEIGHTS, labels=["ham", "spam"], orientation="actual_rows")

    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == {
        "total_cost": {"value": 30.0, "reason": None, "limit": None},
        "mean_cost": {"value": pytest.approx(30 / 110), "reason": None, "limit": None},
        "best_trivial_class": {"value": 0, "reason": None, "limit": None, "label": "ham"},
        "best_trivial_cost": {"value": 100.0, "reason": None, "limit": None},
        "cost_ratio_to_best_trivial": {"value": pytest.approx(0.3), "reason": None, "limit": None},
        "skill_vs_trivial": {"value": pytest.approx(0.7), "reason": None, "limit": None},
    }


def test_values_are_read_by_key() -> None:
    found = cost(COUNTS, weights=WEIGHTS, orientation="actual_rows", currency="EUR")

    assert found["total_cost"].value == 30.0
    assert len(found) == 6
    assert set(found) == set(found.to_dict())
    assert found.costs.currency == "EUR"
    assert found.best_trivial_label == "0"


def test_counts_laid_out_the_other_way_cost_the_same() -> None:
    turned = np.swapaxes(np.array(COUNTS), 0, 1)

    there = cost(COUNTS, weights=WEIGHTS, orientation="actual_rows")
    back = cost(turned, weights=WEIGHTS, orientation="actual_columns")

    assert back.to_dict() == there.to_dict()


def test_a_plain_table_is_laid_out_like_its_weights() -> None:
    stated = cost(COUNTS, weights=WEIGHTS, orientation="actual_rows")

    assert cost(COUNTS, weights=WEIGHTS).to_dict() == stated.to_dict()


def test_an_evaluation_and_its_matrix_carry_their_orientation() -> None:
    evaluation = evaluate_matrix(COUNTS, labels=["ham", "spam"], orientation="actual_rows")

    by_evaluation = cost(
        evaluation, weights={"spam": {"spam": 0, "ham": 10}, "ham": {"ham": 0, "spam": 1}}
    )
    by_matrix = cost(evaluation.matrix, weights=WEIGHTS)

    assert by_evaluation.to_dict() == by_matrix.to_dict()
    assert by_matrix["total_cost"].value == 30.0


@pytest.mark.parametrize("extra", [{"orientation": "actual_rows"}, {"labels": ["a", "b"]}])
def test_what_an_evaluation_carries_cannot_be_overruled(extra: dict[str, Any]) -> None:
    evaluation = evaluate_matrix(COUNTS, orientation="actual_rows")

    with pytest.raises(InvalidInput, match="have their own"):
        cost(evaluation, weights=WEIGHTS, **extra)


def test_a_run_is_asked_for_its_evaluation() -> None:
    class Logged:
        def evaluation(self) -> Evaluation:
            return evaluate_matrix(COUNTS, orientation="actual_rows")

    assert cost(Logged(), weights=WEIGHTS)["total_cost"].value == 30.0


def test_a_class_called_evaluation_is_no_run() -> None:
    frame = pd.DataFrame(COUNTS, ["other", "evaluation"], ["other", "evaluation"])

    found = cost(frame, weights=WEIGHTS, orientation="actual_rows")

    assert found["total_cost"].value == 30.0


def test_undefined_costs_have_a_reason() -> None:
    found = cost([[0, 0], [0, 0]], weights=WEIGHTS, orientation="actual_rows")

    assert found.to_dict()["best_trivial_class"] == {
        "value": None,
        "reason": "no_cases",
        "limit": None,
        "label": None,
    }
    assert found.best_trivial_label is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"orientation": "rows"}, "orientation"),
        ({"weights": [[0, 1]]}, "weights"),
        ({"prevalence": [0.5, 0.6]}, "prevalence"),
        ({"labels": ["a"]}, "labels"),
        ({"currency": ""}, "currency"),
    ],
)
def test_unusable_arguments_are_refused(changes: dict[str, Any], field: str) -> None:
    arguments: dict[str, Any] = {"weights": WEIGHTS, "orientation": "actual_rows"}

    with pytest.raises(InvalidInput) as caught:
        cost(COUNTS, **(arguments | changes))

    assert caught.value.field == field
