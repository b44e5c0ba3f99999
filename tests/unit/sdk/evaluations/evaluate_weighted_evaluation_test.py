"""Evaluating labels with sample weights."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offdiag import evaluate_labels, stats
from offdiag.sdk.evaluations.evaluate import WeightedEvaluation

TRUE = ["a", "a", "b", "b", "b", "c"]
PREDICTED = ["a", "b", "b", "b", "a", "c"]
WEIGHT = [2.0, 0.5, 1.0, 1.5, 0.25, 0.75]


@pytest.fixture
def evaluation() -> WeightedEvaluation:
    return evaluate_labels(y_true=TRUE, y_pred=PREDICTED, sample_weight=WEIGHT)


def test_rates_are_ratios_of_weights(evaluation: WeightedEvaluation) -> None:
    assert evaluation.aggregate["overall_accuracy"].value == pytest.approx(5.25 / 6)
    assert evaluation.per_class["recall"]["a"].value == pytest.approx(2 / 2.5)
    assert evaluation.per_class["precision"]["b"].value == pytest.approx(2.5 / 3)
    assert evaluation.per_class["support"]["b"].value == 2.75
    assert evaluation.aggregate["n"].value == 6.0
    assert evaluation.n_samples == evaluation.n_cases == 6


def test_exact_tests_are_undefined(evaluation: WeightedEvaluation) -> None:
    p_value = evaluation.aggregate["nir_p_value"]

    assert (p_value.value, p_value.reason) == (None, "fractional_weights")


def test_the_frame_names_its_axes(evaluation: WeightedEvaluation) -> None:
    frame = evaluation.confusion_matrix

    assert (frame.index.name, frame.columns.name) == ("actual", "predicted")
    assert frame.loc["a", "b"] == 0.5
    assert evaluation.labels == ("a", "b", "c")


def test_the_dictionary_is_strict_json_and_says_that_it_is_weighted(
    evaluation: WeightedEvaluation,
) -> None:
    found = evaluation.to_dict()

    json.dumps(found, allow_nan=False)
    assert found["weighted"] is True
    assert found["n_cases"] == 6
    assert found["matrix"][1] == [0.25, 2.5, 0.0]
    assert "Weighted metrics of 6 examples" in evaluation._repr_html_()


def test_intervals_are_those_of_a_survey(evaluation: WeightedEvaluation) -> None:
    found = stats.suite_intervals(evaluation)

    methods = {
        str(value.ci_method).partition(";")[0]
        for values in (found.aggregate, found.per_class["recall"])
        for value in values.values()
        if value.ci_method is not None
    }
    assert methods <= {
        "no interval",
        "posterior draws with prior 1/K, 2000 draws",
        "wilson, effective size",
        "wilson, effective size, transformed",
        "score of a mean, effective sizes",
    }
    assert found.n_effective == pytest.approx(np.sum(WEIGHT) ** 2 / np.square(WEIGHT).sum())
    assert isinstance(found, WeightedEvaluation)
