"""Quantities: undefined values keep their reason and their limit through every operation."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.quantity import (
    cause,
    defined,
    defined_except,
    first_cause,
    fraction,
    quotient,
    ratio_with_limit,
    renamed,
)


def test_a_quotient_is_undefined_for_the_given_reason_where_it_divides_by_zero() -> None:
    rates = quotient(np.array([1, 0]), np.array([4, 0]), Reason.NO_ACTUAL_POSITIVES)

    assert rates.at(0) == MetricValue(0.25)
    assert rates.at(1) == MetricValue(None, "no_actual_positives")
    assert np.isnan(rates.value[1])


def test_operands_of_a_quotient_broadcast() -> None:
    shares = quotient(np.array([[1, 3], [2, 2]]), np.array([[4], [0]]), Reason.NO_SAMPLES)

    assert shares.at(0, 1).value == 0.75
    assert shares.at(1, 0).reason == "no_cases"


@pytest.mark.parametrize(
    ("above", "limit", "reason"),
    [
        (3, "+inf", "positive_over_zero"),
        (0, None, "zero_over_zero"),
    ],
)
def test_only_a_positive_number_over_zero_tends_to_infinity(
    above: int, limit: str | None, reason: str
) -> None:
    ratio = ratio_with_limit(np.array([above]), np.array([0]))

    assert ratio.at(0) == MetricValue(None, reason, limit)


def test_a_named_cause_takes_precedence_over_the_limit() -> None:
    absent = cause(Reason.NO_ACTUAL_POSITIVES, np.array([True, False]))

    ratio = ratio_with_limit(np.array([3, 3]), np.array([0, 0]), undefined=absent)

    assert ratio.at(0) == MetricValue(None, "no_actual_positives")
    assert ratio.at(1).limit == "+inf"


def test_the_first_cause_wins() -> None:
    empty = cause(Reason.NO_SAMPLES, np.array([True, False, False]))
    constant = cause(Reason.CONSTANT_ACTUAL, np.array([True, True, False]))

    combined = defined_except(np.ones(3), first_cause(empty, constant))

    assert [combined.at(i).reason for i in range(3)] == ["no_cases", "constant_actual", None]


@pytest.mark.parametrize("holds", [True, False])
def test_a_single_place_is_a_place(holds: bool) -> None:
    # Arithmetic on arrays without axes gives plain Python numbers and booleans.
    found = cause(Reason.NO_SAMPLES, np.bool_(holds) & np.array(True))

    value = defined_except(np.array(1.0), found)

    assert value.shape == ()
    assert bool(value.is_defined) != holds


def test_a_cause_that_applies_nowhere_is_none() -> None:
    nowhere = np.zeros((2, 1), np.bool_)
    none = cause(Reason.NO_SAMPLES, nowhere)
    some = cause(Reason.CONSTANT_ACTUAL, ~nowhere)

    assert none is None
    assert first_cause(none, none) is None
    assert first_cause(none, some) is first_cause(some, none) is some


def test_a_quantity_without_causes_is_defined_everywhere() -> None:
    values = defined(np.ones((2, 3)))

    assert values.reason.tolist() == [[0, 0, 0], [0, 0, 0]]
    assert values.is_defined.all()
    assert not values.to_infinity.any()


def test_causes_are_renamed_where_they_apply() -> None:
    absent = cause(Reason.CLASS_ABSENT, np.array([True, False]))

    values = defined_except(np.ones(2), renamed(Reason.CONSTANT_ACTUAL, absent))

    assert [values.at(i).reason for i in range(2)] == ["constant_actual", None]
    assert renamed(Reason.CONSTANT_ACTUAL, None) is None


def test_huge_whole_numbers_are_rounded_once() -> None:
    above = np.array([10**40 + 1], dtype=object)
    below = np.array([2 * 10**40 + 2], dtype=object)

    half = fraction(above, below, np.zeros(1, np.uint8))

    assert half.at(0).value == 0.5


def test_undefined_values_count_zero_only_when_asked_to() -> None:
    values = defined(np.array([0.5, 0.7])).because(Reason.CLASS_ABSENT, np.array([False, True]))

    zeroed = values.or_zero()

    assert zeroed.tolist() == [0.5, 0.0]
    assert values.at(1).value is None


def test_a_mapped_quantity_keeps_its_reasons_but_not_its_limits() -> None:
    ratio = ratio_with_limit(np.array([2, 1]), np.array([4, 0]))

    doubled = ratio.map(lambda value: value * 2)

    assert doubled.at(0).value == 1.0
    assert doubled.at(1) == MetricValue(None, "positive_over_zero")


def test_a_new_reason_replaces_value_and_limit() -> None:
    ratio = ratio_with_limit(np.array([2, 1]), np.array([4, 0]))

    hidden = ratio.because(Reason.CLASS_VALUE_UNDEFINED, np.array([True, True]))

    assert [hidden.at(i) for i in range(2)] == [MetricValue(None, "class_value_undefined")] * 2


def test_reshaping_keeps_value_reason_and_limit_together() -> None:
    ratio = ratio_with_limit(np.array([2, 1]), np.array([4, 0]))

    column = ratio.reshaped((2, 1))

    assert column.at(0, 0).value == 0.5
    assert column.at(1, 0).limit == "+inf"
