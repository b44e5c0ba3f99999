"""The multi-label confusion matrix against the paper it comes from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.multilabel.matrix import MultilabelMatrix
from offdiag.metrics.multilabel.tally import tally_sets
from support.krstinic import (
    ACTUAL_SETS,
    EXACT_TABLE_5,
    PREDICTED_SETS,
    TABLE_4_CONTRIBUTIONS,
    fractions_of,
    indicator,
    matrix_of,
)

ACTUAL, PREDICTED = indicator(ACTUAL_SETS), indicator(PREDICTED_SETS)


def rounded(values: NDArray[np.float64]) -> list[list[float]]:
    """Two digits, ties away from zero, as the paper prints them."""
    digits: list[list[float]] = (np.floor(values * 100 + 0.5) / 100).tolist()
    return digits


def matrix(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> MultilabelMatrix:
    return tally_sets(actual, predicted).matrix()


@pytest.mark.parametrize("case", range(7))
def test_each_case_of_table_4_contributes_what_the_paper_says(case: int) -> None:
    one = matrix(ACTUAL[case : case + 1], PREDICTED[case : case + 1])

    expected = fractions_of(TABLE_4_CONTRIBUTIONS[case])

    assert one.cells.tolist() == [[float(cell) for cell in row] for row in expected]


def test_table_5_is_exact() -> None:
    tally = tally_sets(ACTUAL, PREDICTED)

    expected = fractions_of(EXACT_TABLE_5)

    cells = [[tally.mass.total(4 * row + column) for column in range(4)] for row in range(4)]
    assert cells == expected
    assert tally.matrix().cells.tolist() == [[float(cell) for cell in row] for row in expected]
    assert rounded(tally.matrix().cells) == [
        [1.00, 0.33, 0.33, 0.33],
        [0.83, 4.67, 0.50, 0.00],
        [1.33, 1.00, 1.67, 0.00],
        [1.00, 0.00, 0.50, 1.50],
    ]


def test_table_6_is_the_column_share() -> None:
    assert rounded(matrix(ACTUAL, PREDICTED).column_share.value) == [
        [0.24, 0.06, 0.11, 0.18],
        [0.20, 0.78, 0.17, 0.00],
        [0.32, 0.17, 0.56, 0.00],
        [0.24, 0.00, 0.17, 0.82],
    ]


def test_table_7_is_the_row_share() -> None:
    assert rounded(matrix(ACTUAL, PREDICTED).row_share.value) == [
        [0.50, 0.17, 0.17, 0.17],
        [0.14, 0.78, 0.08, 0.00],
        [0.33, 0.25, 0.42, 0.00],
        [0.33, 0.00, 0.17, 0.50],
    ]


def test_single_label_data_give_the_ordinary_matrix_of_tables_1_to_3() -> None:
    table_1 = np.array([[8, 0, 0, 0], [4, 9, 1, 1], [3, 0, 7, 0], [1, 0, 2, 9]])
    pairs = np.repeat(np.arange(16), table_1.ravel())
    one_hot = np.eye(4, dtype=np.bool_)

    result = matrix(one_hot[pairs // 4], one_hot[pairs % 4])

    assert result.cells.tolist() == table_1.tolist()
    assert rounded(result.column_share.value) == [
        [0.50, 0.00, 0.00, 0.00],
        [0.25, 1.00, 0.10, 0.10],
        [0.19, 0.00, 0.70, 0.00],
        [0.06, 0.00, 0.20, 0.90],
    ]
    assert rounded(result.row_share.value) == [
        [1.00, 0.00, 0.00, 0.00],
        [0.27, 0.60, 0.07, 0.07],
        [0.30, 0.00, 0.70, 0.00],
        [0.08, 0.00, 0.17, 0.75],
    ]


def test_a_missed_label_lowers_the_column_share_of_a_correct_one() -> None:
    result = matrix(indicator(["11"]), indicator(["10"]))

    assert result.column_share.value[0, 0] == 0.5
    assert result.row_share.value.tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_shares_of_a_label_without_mass_are_undefined_with_a_reason() -> None:
    result = matrix(indicator(["100"]), indicator(["010"]))

    assert result.row_share.at(1, 0).reason == Reason.NO_ACTUAL_POSITIVES
    assert result.column_share.at(0, 2).reason == Reason.NO_PREDICTED_POSITIVES
    assert result.row_share.at(0, 1).value == 1.0
    assert result.column_share.at(2, 1).value == 0.0


def test_cases_with_an_empty_set_are_left_out_of_the_matrix() -> None:
    actual = indicator(["10", "00", "11", "00"])
    predicted = indicator(["10", "01", "00", "00"])

    result = matrix(actual, predicted)

    assert result.cells.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert result.n_samples == 1


def test_one_label_alone_gives_a_matrix_of_one_cell() -> None:
    column = np.array([[True], [True], [False]])

    result = matrix(column, np.array([[True], [False], [True]]))

    assert result.cells.tolist() == [[1.0]]
    assert result.row_share.at(0, 0).value == 1.0


def test_many_labels_agree_with_the_algorithm_taken_literally() -> None:
    n_labels, density = 70, 0.1
    generator = np.random.default_rng(n_labels)
    actual = generator.random((60, n_labels)) < density
    predicted = actual ^ (generator.random((60, n_labels)) < density / 2)
    both = np.repeat(np.arange(60), generator.integers(1, 4, 60))
    actual, predicted = actual[both], predicted[both]

    tally = tally_sets(actual, predicted)

    expected = matrix_of(actual, predicted)
    cells = [
        [tally.mass.total(n_labels * row + column) for column in range(n_labels)]
        for row in range(n_labels)
    ]
    assert cells == expected
    assert tally.matrix().cells.tolist() == [[float(cell) for cell in row] for row in expected]
    shares = tally.matrix().row_share
    for row, masses in zip(shares.value, expected, strict=True):
        whole = sum(masses, Fraction(0))
        if whole:
            assert row.tolist() == [float(mass / whole) for mass in masses]
