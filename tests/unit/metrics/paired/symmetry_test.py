"""Bowker and Stuart-Maxwell: published figures, degenerate margins, orientation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.mcnemar import mcnemar
from offdiag.metrics.paired.symmetry import bowker, stuart_maxwell

DIAGNOSES = [[35, 5, 0], [15, 20, 5], [10, 5, 5]]
"""Two psychiatric diagnoses of 100 patients (Fleiss, Levin and Paik 2003, table 13.8)."""


def test_two_diagnoses_have_the_published_statistic() -> None:
    found = stuart_maxwell(DIAGNOSES)

    assert found.chi2 == pytest.approx(14.0)
    assert found.df == 2
    assert found.p == pytest.approx(0.000912, abs=5e-7)


def test_symmetry_adds_up_the_exchanges_of_each_pair() -> None:
    found = bowker(DIAGNOSES)

    assert found.chi2 == pytest.approx(10**2 / 20 + 10**2 / 10 + 0)
    assert (found.df, found.df_all_pairs) == (3, 3)


def test_pairs_without_exchange_cost_no_degree_of_freedom() -> None:
    found = bowker([[9, 4, 0], [1, 9, 0], [0, 0, 9]])

    assert (found.df, found.df_all_pairs) == (1, 3)
    assert found.chi2 == pytest.approx(9 / 5)
    assert found.p is not None
    assert found.p_all_pairs is not None
    assert found.p < found.p_all_pairs


@pytest.mark.parametrize("table", [[[5, 0], [0, 7]], [[3]], np.zeros((3, 3)), np.eye(4) * 5])
def test_without_exchange_both_tests_are_undefined(table: Any) -> None:
    symmetry, margins = bowker(table), stuart_maxwell(table)

    assert (symmetry.chi2, symmetry.p, symmetry.p_all_pairs) == (None, None, None)
    assert (margins.chi2, margins.p, margins.df) == (None, None, 0)
    assert symmetry.reason == margins.reason == "no_discordant_pairs"


def test_two_classes_give_the_chi_square_of_mcnemar() -> None:
    table = [[50, 12], [5, 33]]

    expected = mcnemar(12, 5).chi2

    assert bowker(table).chi2 == pytest.approx(expected)
    assert stuart_maxwell(table).chi2 == pytest.approx(expected)


def test_which_classification_lies_along_which_axis_does_not_matter() -> None:
    table = np.array(DIAGNOSES)

    assert bowker(table) == bowker(np.swapaxes(table, 0, 1))
    assert stuart_maxwell(table).chi2 == pytest.approx(
        stuart_maxwell(np.swapaxes(table, 0, 1)).chi2
    )


def test_a_class_without_exchange_drops_out_of_the_margins() -> None:
    padded = np.zeros((5, 5), np.int64)
    padded[np.ix_([0, 2, 3], [0, 2, 3])] = DIAGNOSES
    padded[1, 1] = 17

    found = stuart_maxwell(padded)

    assert found.chi2 == pytest.approx(14.0)
    assert found.df == 2


def test_separate_groups_of_classes_lose_one_degree_each() -> None:
    # Classes exchange cases within {0, 1} and within {2, 3} only: two McNemar tests in one.
    table = [[1, 2, 0, 0], [7, 1, 0, 0], [0, 0, 1, 9], [0, 0, 4, 1]]
    first, second = mcnemar(2, 7).chi2, mcnemar(9, 4).chi2
    assert first is not None
    assert second is not None

    found = stuart_maxwell(table)

    assert found.df == 2
    assert found.chi2 == pytest.approx(first + second)


def test_equal_margins_have_statistic_zero() -> None:
    cycle = [[0, 5, 0], [0, 0, 5], [5, 0, 0]]

    assert stuart_maxwell(cycle).chi2 == pytest.approx(0.0)
    assert bowker(cycle).chi2 == pytest.approx(15.0)


@pytest.mark.parametrize("table", [[[1, 2, 3], [4, 5, 6]], [[1, -2], [3, 4]], [[1.5, 2], [3, 4]]])
def test_what_is_no_table_of_counts_is_refused(table: Any) -> None:
    for test in (bowker, stuart_maxwell):
        with pytest.raises(InvalidInput) as caught:
            test(table)
        assert caught.value.field == "table"
