"""The tally: which number type is chosen, and what fractional weights become."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.tally import tally, widened


@pytest.mark.parametrize(
    ("total", "kind"),
    [
        (47_453_132, "f"),  # 4 N N is just below 2**53,
        (47_453_133, "i"),  # and just above it;
        (1_518_500_249, "i"),  # just below 2**63,
        (1_518_500_250, "O"),  # and just above it.
    ],
)
def test_the_number_type_is_the_fastest_in_which_products_are_exact(total: int, kind: str) -> None:
    counted = tally(np.array([[total, 0], [0, 0]]))

    assert counted.total.dtype.kind == counted.actual.dtype.kind == kind


def test_one_huge_matrix_of_a_stack_makes_the_whole_stack_exact() -> None:
    stack = np.array([[[1, 2], [3, 4]], [[10**17, 0], [0, 10**17]]])

    counted = tally(stack)

    assert counted.total.tolist() == [10, 2 * 10**17]
    assert type(counted.total[0]) is int


def test_margins_are_told_apart() -> None:
    counted = tally(np.array([[5, 1], [2, 7]]))

    assert counted.actual.tolist() == [[6, 9]]
    assert counted.predicted.tolist() == [[7, 8]]
    assert counted.correct.tolist() == [[5, 7]]


def test_fractional_weights_become_whole_multiples_of_a_unit() -> None:
    counted = tally(np.array([[0.5, 0.25], [0.0, 3.0]]))

    assert counted.unit == 4
    assert counted.counts.tolist() == [[[2, 1], [0, 12]]]
    assert counted.weighted


def test_weights_that_add_up_only_nearly_are_not_rounded_to_equality() -> None:
    counted = tally(np.array([[0.1, 0.2], [0.3, 0.0]]))

    nearly_equal = counted.actual[0]
    assert nearly_equal[0] != nearly_equal[1]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[-0.5, 1.0], [1.0, 1.0]], "negative or not finite"),
        ([[np.nan, 1.0], [1.0, 1.0]], "negative or not finite"),
        ([[np.inf, 1.0], [1.0, 1.0]], "negative or not finite"),
        ([[1e-60, 1.0], [1.0, 1.0]], "weights range from 1e-60 to 1"),
    ],
)
def test_unusable_weights_are_refused(cells: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        tally(np.array(cells))


@pytest.mark.parametrize(
    ("bound", "kind"),
    [(2**53, "f"), (2**53 + 1, "i"), (2**63 - 1, "i"), (2**63, "O")],
)
def test_numbers_are_widened_no_further_than_a_product_needs(bound: int, kind: str) -> None:
    (wide,) = widened(bound, np.array([3.0]))

    assert wide.dtype.kind == kind
    assert wide[0] == 3


def test_python_integers_stay_what_they_are() -> None:
    (kept,) = widened(2**53 + 1, np.array([10**30], dtype=object))

    assert kept.tolist() == [10**30]
