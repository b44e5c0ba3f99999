"""McNemar's test: published figures, ties, and no discordance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.hypothesis_tests import (
    benjamini_hochberg,
    bowker,
    cochran_q,
    holm,
    mcnemar,
    stuart_maxwell,
)


def test_airway_reactivity_of_21_children_is_as_published() -> None:
    # Fagerland, Lydersen and Laake (2013), section on the data of Bentur et al. (2009).
    found = mcnemar(7, 1)

    assert found.exact_p == pytest.approx(0.0703, abs=5e-5)
    assert found.mid_p == pytest.approx(0.0391, abs=5e-5)
    assert found.chi2_p == pytest.approx(0.0339, abs=5e-5)
    assert found.chi2_cc_p == pytest.approx(0.0771, abs=5e-5)


def test_without_a_discordant_pair_nothing_differs() -> None:
    found = mcnemar(0, 0)

    assert (found.exact_p, found.mid_p) == (1.0, 1.0)
    assert (found.chi2, found.chi2_p, found.chi2_cc, found.chi2_cc_p) == (None,) * 4
    assert found.reason == "no_discordant_pairs"


@pytest.mark.parametrize("count", [1, 5, 1000])
def test_equal_counts_are_no_evidence_even_with_a_correction(count: int) -> None:
    found = mcnemar(count, count)

    assert (found.exact_p, found.mid_p) == (1.0, 1.0)
    assert (found.chi2, found.chi2_cc, found.chi2_cc_p) == (0.0, 0.0, 1.0)


def test_counts_of_1e15_keep_their_p_value() -> None:
    # At this size the exact test is the normal one: z = 1e8 / sqrt(2e15).
    found = mcnemar(10**15, 10**15 + 10**8)

    assert found.exact_p == pytest.approx(0.02534732, rel=1e-6)
    assert found.chi2_p == pytest.approx(0.02534732, rel=1e-6)


@pytest.mark.parametrize(("b", "c", "field"), [(-1, 2, "b"), (1, 2.5, "c"), ("3", 1, "b")])
def test_what_is_no_count_is_refused(b: Any, c: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        mcnemar(b, c)

    assert caught.value.field == field


def test_cases_on_which_all_runs_agree_do_not_matter() -> None:
    telling = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 0], [1, 1, 0]])
    padded = np.concatenate([telling, np.ones((30, 3)), np.zeros((10, 3))])

    assert cochran_q(telling) == cochran_q(padded)


@pytest.mark.parametrize("correct", [np.ones((5, 3)), np.zeros((4, 2)), np.ones((0, 3))])
def test_without_a_case_that_tells_runs_apart_it_is_undefined(correct: Any) -> None:
    found = cochran_q(correct)

    assert (found.q, found.p) == (None, None)
    assert found.reason == "no_discordant_pairs"


@pytest.mark.parametrize("correct", [[[1], [0]], [1, 0, 1], [[1, 2]], [[0.5, 1]], [["a", "b"]]])
def test_other_shapes_and_values_are_refused(correct: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        cochran_q(correct)

    assert caught.value.field == "correct"


DIAGNOSES = [[35, 5, 0], [15, 20, 5], [10, 5, 5]]
"""Two psychiatric diagnoses of 100 patients (Fleiss, Levin and Paik 2003, table 13.8)."""


def test_two_diagnoses_have_the_published_statistic() -> None:
    found = stuart_maxwell(DIAGNOSES)

    assert found.chi2 == pytest.approx(14.0)
    assert found.df == 2
    assert found.p == pytest.approx(0.000912, abs=5e-7)


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


def test_holm_multiplies_by_the_comparisons_that_are_left() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_single_comparison_needs_no_adjustment(adjust: Any) -> None:
    assert adjust([0.3]).tolist() == [0.3]
    assert adjust([]).tolist() == []


def test_adjusted_values_end_at_one() -> None:
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize("p", [[0.5, 1.01], [-0.1], [float("nan")], [[0.1, 0.2]], [None]])
def test_what_is_no_list_of_p_values_is_refused(adjust: Any, p: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        adjust(p)

    assert caught.value.field == "p"
