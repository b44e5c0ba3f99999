"""Evaluating matrices and label arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.sdk.evaluations.evaluate import evaluate_labels, evaluate_matrix
from support.published_matrices import WINE


def test_the_orientation_has_no_default() -> None:
    with pytest.raises(InvalidInput, match="a matrix does not show it"):
        evaluate_matrix(WINE)


@pytest.mark.parametrize("orientation", ["rows", "", "ACTUAL_ROWS", "predictions"])
def test_an_unknown_orientation_is_refused_with_the_known_ones(orientation: Any) -> None:
    with pytest.raises(InvalidInput, match="actual_rows, actual_columns") as refusal:
        evaluate_matrix(WINE, orientation=orientation)

    assert refusal.value.field == "orientation"


def test_the_frame_of_an_evaluation_can_be_evaluated_again() -> None:
    evaluation = evaluate_matrix(WINE, labels=["a", "b", "c"], orientation="actual_rows")

    again = evaluate_matrix(evaluation.confusion_matrix)

    assert again.to_dict() == evaluation.to_dict()


def test_an_order_without_labels_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no labels were declared"):
        evaluate_matrix(WINE, orientation="actual_rows", ordinal=True)


def test_declared_order_defines_the_weighted_kappas() -> None:
    declared = evaluate_matrix(
        WINE, labels=["low", "mid", "high"], orientation="actual_rows", ordinal=True
    )
    reordered = LabelSet.declared(["mid", "low", "high"], ordinal=True)
    other = evaluate_matrix(WINE, labels=reordered, orientation="actual_rows")

    assert declared.aggregate["kappa_quadratic"].value == pytest.approx(0.0721127, abs=1e-7)
    assert other.aggregate["kappa_quadratic"].is_defined


def test_labels_and_predictions_become_a_matrix_in_declared_order() -> None:
    evaluation = evaluate_labels(
        y_true=["b", "b", "a"], y_pred=["a", "b", "a"], labels=["b", "a", "never"]
    )

    assert evaluation.to_dict()["matrix"] == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]


def test_positions_cannot_be_swapped_by_accident() -> None:
    with pytest.raises(TypeError):
        evaluate_labels([0, 1], [1, 1])  # type: ignore[call-overload]  # That is what is tested.


def test_a_hundred_thousand_numbers_agree_with_the_matrix_they_make() -> None:
    generator = np.random.default_rng(11)
    actual = generator.integers(0, 5, 100_000)
    predicted = generator.integers(0, 5, 100_000)
    matrix = np.zeros((5, 5), np.int64)
    np.add.at(matrix, (actual, predicted), 1)

    from_labels = evaluate_labels(y_true=actual, y_pred=predicted, labels=range(5))

    from_matrix = evaluate_matrix(matrix, orientation="actual_rows")
    assert from_labels.to_dict() == from_matrix.to_dict()


def test_an_order_that_was_only_inferred_gives_no_weighted_kappa() -> None:
    found = evaluate_labels(y_true=["low", "high"], y_pred=["low", "low"]).aggregate

    assert found["kappa_linear"].reason == "order_not_declared"
