"""The worked examples of the literature, to the printed digits.

Where a printed number contradicts its own definition, the right one stands here and the
comment says what was printed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.values import MetricValue
from offdiag.metrics.suite import Suite, evaluate_stack
from support.published_matrices import (
    ALWAYS_NEGATIVE,
    COVID_TEST,
    EXERCISE,
    FIGURE,
    LOGISTIC_REGRESSION,
    SCREENING,
    THREE_CLASSES,
    WINE,
    Matrix,
)


def suite(matrix: Matrix) -> Suite:
    return evaluate_stack(np.array(matrix), ordinal=False)


def assert_aggregates(matrix: Matrix, expected: dict[str, float], *, digits: int) -> None:
    found = suite(matrix).aggregate
    for key, printed in expected.items():
        value = found[key].at().value
        assert value == pytest.approx(printed, abs=0.5 * 10**-digits * 1.001), key


def assert_classes(matrix: Matrix, expected: dict[str, list[float]], *, digits: int) -> None:
    found = suite(matrix).per_class
    for key, printed in expected.items():
        np.testing.assert_allclose(
            found[key].value, printed, rtol=0, atol=0.5 * 10**-digits * 1.001, err_msg=key
        )


def test_zeng_table_10_class_values_of_the_wine_data() -> None:
    assert_classes(
        WINE,
        {
            "precision": [0.571429, 0.772727, 0.388889],
            "recall": [0.421053, 0.809524, 0.500000],
        },
        digits=6,
    )


def test_zeng_table_11_aggregates_of_the_wine_data() -> None:
    assert_aggregates(
        WINE,
        {
            "macro_precision": 0.57768158,
            "macro_recall": 0.57685881,
            "macro_f1": 0.57101539,
            "macro_f1_harmonic": 0.57726990,
            "micro_precision": 0.59259259,
            "micro_recall": 0.59259259,
            "micro_f1": 0.59259259,
            "weighted_precision": 0.60238630,
            "weighted_recall": 0.59259259,
            "weighted_f1": 0.59151430,
            # Item 18 of the notation table defines this one; Table 11 prints the one above.
            "weighted_f1_harmonic": 0.59744931,
            "overall_accuracy": 0.59259259,
            "average_accuracy": 0.72839506,
            "error_rate": 0.40740741,
            # Item 21 defines the error rate as the complement of the average accuracy.
            "average_error_rate": 0.27160494,
        },
        digits=8,
    )


def test_zeng_class_counts_of_the_wine_data() -> None:
    assert_classes(
        WINE,
        {"support": [19, 21, 14], "predicted": [14, 22, 18], "tp": [8, 17, 7]},
        digits=6,
    )


def test_zeng_two_matrices_that_agree_in_four_aggregates_differ_in_macro_f1() -> None:
    one, other = suite([[1, 3], [1, 3]]).aggregate, suite([[2, 2], [2, 2]]).aggregate

    for key in ("overall_accuracy", "macro_precision", "macro_recall", "weighted_precision"):
        assert one[key].at().value == other[key].at().value == 0.5, key
    for key in ("macro_f1", "weighted_f1"):
        assert one[key].at().value == pytest.approx(7 / 15), key
        assert other[key].at().value == 0.5, key


def test_lecture_example_1_covid_test() -> None:
    assert_aggregates(COVID_TEST, {"overall_accuracy": 0.71966527}, digits=8)
    assert_classes(
        COVID_TEST,
        {"precision": [1.0, 0.316], "recall": [0.678, 1.0], "f1": [0.808, 0.481]},
        digits=3,
    )


def test_lecture_example_2_logistic_regression() -> None:
    assert_aggregates(LOGISTIC_REGRESSION, {"overall_accuracy": 0.9}, digits=12)
    found = suite(LOGISTIC_REGRESSION).per_class

    for key in ("precision", "recall", "f1"):
        assert found[key].at(0).value == pytest.approx(55 / 60), key
    assert found["specificity"].at(0).value == 0.875


def test_lecture_example_3_always_negative() -> None:
    found = suite(ALWAYS_NEGATIVE)

    assert found.aggregate["overall_accuracy"].at().value == 0.99
    assert found.aggregate["majority_baseline"].at().value == 0.99
    assert found.per_class["precision"].at(0) == MetricValue(None, "no_predicted_positives")
    assert found.per_class["recall"].at(0).value == 0.0
    # Printed as 990/1000 = 99 %; all 990 negatives are found.
    assert found.per_class["specificity"].at(0).value == 1.0
    assert found.per_class["f1"].at(0).value == 0.0


def test_lecture_example_5_three_classes() -> None:
    assert_classes(
        THREE_CLASSES,
        {
            "tp": [72, 6, 2],
            "fp": [10, 7, 3],
            "fn": [8, 9, 3],
            "precision": [0.878, 0.462, 0.400],
            "recall": [0.900, 0.400, 0.400],
            "f1": [0.889, 0.429, 0.400],
        },
        digits=3,
    )
    assert_aggregates(
        THREE_CLASSES,
        {
            "macro_precision": 0.5799,
            "macro_recall": 0.5667,
            # Printed as 57.3 %, the mean of rounded class values.
            "macro_f1": 0.5725,
            "macro_f1_harmonic": 0.5732,
            "micro_f1": 0.8,
            "overall_accuracy": 0.8,
            "majority_baseline": 0.8,
        },
        digits=4,
    )


def test_web_page_figure() -> None:
    found = suite(FIGURE)

    assert_aggregates(FIGURE, {"overall_accuracy": 0.975}, digits=3)
    printed = {"precision": 0.895, "recall": 0.850, "f1": 0.872}
    for key, value in printed.items():
        assert found.per_class[key].at(0).value == pytest.approx(value, abs=5e-4), key
    assert found.aggregate["mcc"].at().value == pytest.approx(0.8583, abs=5e-5)


def test_web_page_screening_example() -> None:
    assert_aggregates(
        SCREENING,
        {
            "overall_accuracy": 0.978,
            "majority_baseline": 0.99,
            "mcc": 0.47031,
            "cohen_kappa": 0.41239,
        },
        digits=5,
    )
    found = suite(SCREENING).per_class
    assert found["precision"].at(0).value == pytest.approx(0.286, abs=5e-4)
    assert found["recall"].at(0).value == pytest.approx(0.8)
    assert found["informedness"].at(0).value == pytest.approx(0.780, abs=5e-4)


@pytest.mark.parametrize(
    ("prevalence", "correlation"), [(0.5, 0.793), (0.05, 0.720), (0.01, 0.470), (0.001, 0.172)]
)
def test_web_page_screening_rates_at_other_prevalences(
    prevalence: float, correlation: float
) -> None:
    recall, specificity = 0.8, 9700 / 9900
    shares = np.array(
        [
            [prevalence * recall, prevalence * (1 - recall)],
            [(1 - prevalence) * (1 - specificity), (1 - prevalence) * specificity],
        ]
    )

    found = evaluate_stack(shares, ordinal=False)

    assert found.aggregate["mcc"].at().value == pytest.approx(correlation, abs=5e-4)
    assert found.per_class["informedness"].at(0).value == pytest.approx(0.780, abs=5e-4)


def test_web_page_exercise() -> None:
    assert_aggregates(EXERCISE, {"macro_precision": (0.80 + 0.75 + 0.75) / 3}, digits=12)


@pytest.mark.parametrize(
    ("matrix", "right"),
    [
        # The page's formula for R_K gives 2, 3, and its "multiclass phi" 2, 1.5 and +1.
        ([[5, 0], [0, 5]], 1.0),
        ([[5, 0, 0], [0, 5, 0], [0, 0, 5]], 1.0),
        ([[0, 5, 0], [0, 0, 5], [5, 0, 0]], -0.5),
        ([[1, 1], [1, 1]], 0.0),
        (SCREENING, 0.47031),
    ],
)
def test_the_correlation_is_gorodkins(matrix: Any, right: float) -> None:
    assert suite(matrix).aggregate["mcc"].at().value == pytest.approx(right, abs=5e-6)


def test_the_correlation_has_the_sign_of_informedness() -> None:
    found = suite([[1, 4], [3, 1]])

    informedness = found.per_class["informedness"].at(0).value
    markedness = found.per_class["markedness"].at(0).value
    correlation = found.aggregate["mcc"].at().value
    assert informedness is not None
    assert markedness is not None
    assert informedness < 0
    assert correlation == pytest.approx(-np.sqrt(informedness * markedness))
