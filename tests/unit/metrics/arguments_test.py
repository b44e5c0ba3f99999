"""What statistical functions refuse, and what they say about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics import arguments


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([3, -1], r"x: the value at \[1\], -1 is negative"),
        ([0.5], r"the value at \[0\], 0.5 is not whole"),
        ([1.0, float("nan")], "nan is not finite"),
        ([float("inf")], "inf is not finite"),
        ([2**63], "is too large"),
        (["a"], "is not numeric"),
        ([None], "is not numeric"),
        ([[1, 2], [3]], "the rows differ in length"),
    ],
)
def test_what_is_no_count_is_named_with_its_place(values: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=text) as caught:
        arguments.whole_counts(values, field="x")

    assert caught.value.field == "x"
    assert caught.value.hint


@pytest.mark.parametrize("values", [[0, 3], [3.0], np.array([2], np.uint8), []])
def test_whole_numbers_of_any_type_are_counts(values: Any) -> None:
    assert arguments.whole_counts(values, field="x").dtype == np.int64


def test_a_single_count_is_no_array() -> None:
    assert arguments.count_of(np.int32(7), field="b") == 7
    with pytest.raises(InvalidInput, match="Give one number"):
        arguments.count_of([7], field="b")


@pytest.mark.parametrize("table", [[], [1, 2], [[1, 2, 3], [4, 5, 6]], [[2**61, 2**61], [0, 0]]])
def test_a_table_that_is_not_square_or_too_large_is_refused(table: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^table: "):
        arguments.square_table(table, field="table")


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 95, float("nan"), "0.95", None, [0.9]])
def test_a_confidence_is_strictly_between_0_and_1(confidence: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^confidence: "):
        arguments.confidence_level(confidence)


@pytest.mark.parametrize(
    ("check", "values"),
    [
        (arguments.probabilities, [0.5, 1.1]),
        (arguments.probabilities, [float("nan")]),
        (arguments.finite_vector, [[1.0]]),
        (arguments.finite_vector, [float("inf")]),
        (arguments.finite_vector, ["high"]),
    ],
)
def test_numbers_outside_their_range_are_refused(check: Callable[..., Any], values: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^score: "):
        check(values, field="score")


def test_only_0_and_1_say_yes_or_no() -> None:
    hint = "Give 0 and 1."

    assert arguments.zero_one([0, 1.0], field="y", hint=hint).tolist() == [False, True]
    assert arguments.zero_one(np.array([True]), field="y", hint=hint).tolist() == [True]
    with pytest.raises(InvalidInput, match=r"2 is neither 0 nor 1\. Give 0 and 1\."):
        arguments.zero_one([0, 2], field="y", hint=hint)


def test_zero_repetitions_are_refused() -> None:
    with pytest.raises(InvalidInput, match="replicates: it is 0"):
        arguments.positive_count(0, field="replicates")
