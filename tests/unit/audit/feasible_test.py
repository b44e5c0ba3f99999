"""Searching for tables and sums of whole numbers where trying all is out of the question."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.audit.definitions import described
from offdiag.audit.feasible import NOT_MONOTONE, Constraint, Run, feasible_tables, table_values
from offdiag.audit.printed import Interval
from offdiag.audit.reported_values import AGGREGATES, CLASS_KEYS
from offdiag.audit.whole_numbers import is_reachable
from offdiag.metrics.catalogue import Direction


def asked(key: str, value: float, unit: float, code: int | None = None) -> Constraint:
    return Constraint(key, code, Interval(value - unit / 2, value + unit / 2))


def test_ten_million_cases_are_searched_without_being_tried() -> None:
    # 200 hits of 1,000 and 5 false alarms among 10 million others.
    sizes = (1_000, 10_000_000)
    constraints = (asked("recall", 0.2, 1e-3, code=0), asked("precision", 200 / 205, 1e-4, code=0))

    found = feasible_tables(sizes, constraints)

    assert list(found) == [((200, 800), (5, 9_999_995))]


def test_the_smaller_class_is_the_one_that_is_gone_through() -> None:
    constraints = (asked("overall_accuracy", 0.9, 1e-4), asked("npv", 0.5, 1e-2, code=0))

    one_way = feasible_tables((5_000_000, 300), constraints)
    other_way = feasible_tables(
        (300, 5_000_000), (asked("overall_accuracy", 0.9, 1e-4), asked("npv", 0.5, 1e-2, code=1))
    )

    assert one_way.is_complete
    assert one_way.count == other_way.count


def test_the_one_answer_tables_are_found_by_what_is_undefined() -> None:
    undefined = Constraint("precision", 0, None)

    assert list(feasible_tables((3, 4), (undefined,))) == [((0, 3), (0, 4))]
    assert list(feasible_tables((3, 4), (Constraint("npv", 0, None),))) == [((3, 0), (4, 0))]


def test_a_ratio_that_tends_to_infinity_counts_as_undefined() -> None:
    found = feasible_tables((2, 2), (Constraint("lr_plus", 0, None),))

    assert {table[1][0] for table in found} == {0}
    assert found.count == 3


@pytest.mark.parametrize("key", sorted({*AGGREGATES, *CLASS_KEYS} - NOT_MONOTONE))
def test_metrics_do_not_fall_with_a_hit_more_and_do_not_rise_with_a_false_alarm_more(
    key: str,
) -> None:
    """The search rests on this; the exceptions are tried one by one."""
    sign = -1 if described(key).direction is Direction.LOWER else 1
    for first, second in ((1, 1), (1, 6), (6, 1), (5, 5), (3, 9), (9, 4)):
        hits, alarms = (grid.ravel() for grid in np.indices((first + 1, second + 1)))
        one_answer = (hits + alarms == 0) | (hits + alarms == first + second)
        for code in (None,) if key in AGGREGATES else (0, 1):
            values = sign * table_values(key, code, hits, alarms, (first, second))
            assert not np.isnan(values[~one_answer]).any()
            table = np.where(one_answer, np.nan, values).reshape(first + 1, second + 1)
            with np.errstate(invalid="ignore"):
                assert not (np.diff(table, axis=0) < -1e-12).any()
                assert not (np.diff(table, axis=1) > 1e-12).any()


def test_runs_seen_from_the_other_class_are_seen_back_unchanged() -> None:
    run = Run(2, 5, 1, 7)

    assert run.seen_from_the_other_class((9, 8)).seen_from_the_other_class((8, 9)) == run
    assert run.count == 28


SIZES = (19, 21, 14)
ANY_HITS = tuple(tuple(range(size + 1)) for size in SIZES)


def test_sums_of_whole_numbers_hit_few_values_of_macro_recall() -> None:
    right = (8 / 19 + 17 / 21 + 7 / 14) / 3

    def reaches(value: float) -> bool | None:
        near = Interval(value - 5e-9, value + 5e-9)
        return is_reachable(SIZES, ANY_HITS, correct=(32, 32), macro_recall=near)

    assert reaches(right) is True
    assert reaches(right + 1e-7) is False


def test_too_many_sums_refute_nothing() -> None:
    sizes = (997, 991, 983, 977)
    hits = tuple(tuple(range(size + 1)) for size in sizes)

    assert is_reachable(sizes, hits, correct=(0, 4000), macro_recall=Interval(0.5, 0.5)) is None


def test_sizes_whose_common_multiple_is_huge_refute_nothing() -> None:
    primes = (104729, 104723, 104717, 104711)
    hits = tuple((0, size) for size in primes)

    assert is_reachable(primes, hits, correct=(0, 10**6), macro_recall=Interval(0.1, 0.2)) is None


def test_cases_of_one_class_are_tried_if_they_are_few() -> None:
    asked_for = (asked("overall_accuracy", 0.5, 1e-9),)

    few = feasible_tables((0, 10), asked_for)
    many = feasible_tables((0, 300_000), asked_for)

    assert list(few) == [((0, 0), (5, 5))]
    assert not many.is_complete
    assert not many.is_impossible
