"""Sums of fractions that are exact, whatever the order and the number of terms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.multilabel import exact_sums
from offdiag.metrics.multilabel.exact_sums import ExactSums


def collected(*terms: tuple[int, int, int]) -> ExactSums:
    """Terms given as (cell, numerator, denominator)."""
    cell, numerator, denominator = np.array(terms, dtype=np.int64).reshape(-1, 3).T
    return ExactSums.collect(cell=cell, denominator=denominator, numerator=numerator)


def parts(sums: ExactSums) -> list[list[int]]:
    arrays: tuple[NDArray[np.int64], ...] = (sums.cell, sums.denominator, sums.numerator)
    return [array.tolist() for array in arrays]


def test_three_thirds_are_exactly_one() -> None:
    sums = collected((0, 1, 3), (0, 1, 3), (0, 1, 3))

    assert sums.total(0) == 1


def test_cells_do_not_mix() -> None:
    sums = collected((4, 1, 2), (7, 1, 3), (4, 1, 3))

    assert sums.total(4) == Fraction(5, 6)
    assert sums.total(7) == Fraction(1, 3)
    assert sums.total(5) == 0


def test_terms_are_kept_in_one_canonical_order() -> None:
    terms = [(7, 1, 3), (4, 1, 2), (4, 1, 3), (7, 2, 3)]

    forward, backward = collected(*terms), collected(*reversed(terms))

    assert parts(forward) == parts(backward) == [[4, 4, 7], [2, 3, 3], [1, 1, 3]]


def test_zero_terms_leave_no_trace() -> None:
    assert parts(collected((3, 0, 5))) == [[], [], []]


def test_no_terms_sum_to_zero() -> None:
    nothing = collected()

    assert nothing.common_denominator() == 1
    assert nothing.over_common_denominator() == {}
    assert nothing.total(0) == 0


def test_adding_two_sums_adds_every_cell() -> None:
    sums = collected((1, 1, 6), (2, 1, 2)) + collected((1, 1, 3), (5, 2, 7))

    assert [sums.total(cell) for cell in (1, 2, 5)] == [
        Fraction(1, 2),
        Fraction(1, 2),
        Fraction(2, 7),
    ]


def test_every_cell_is_brought_to_the_common_denominator() -> None:
    sums = collected((0, 1, 4), (0, 1, 6), (1, 1, 6))

    assert sums.common_denominator() == 12
    assert sums.over_common_denominator() == {0: 5, 1: 2}


def test_sums_stay_exact_where_the_common_denominator_leaves_64_bits() -> None:
    primes = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151]

    sums = collected(*[(0, prime - 1, prime) for prime in primes])

    assert sums.common_denominator() > 2**64
    assert sums.total(0) == sum((Fraction(prime - 1, prime) for prime in primes), Fraction(0))


def test_sorting_and_tabulating_give_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    cell, denominator = generator.integers(1, 40, (2, 500))
    numerator = generator.integers(0, 3, 500)

    by_table = ExactSums.collect(cell=cell, denominator=denominator, numerator=numerator)
    monkeypatch.setattr(exact_sums, "_ALWAYS_A_TABLE", 0)
    # A cell far away makes the range of keys too wide for a table.
    far = np.append(cell, 10**9)
    by_sorting = ExactSums.collect(
        cell=far, denominator=np.append(denominator, 1), numerator=np.append(numerator, 1)
    )

    assert [part[:-1] for part in parts(by_sorting)] == parts(by_table)
