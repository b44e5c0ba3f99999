"""Places in an order."""

from __future__ import annotations

from offdiag.metrics.costs.ranks import ranks


def test_the_lowest_value_comes_first() -> None:
    assert ranks([3.0, 1.0, 2.0]) == (3, 1, 2)


def test_the_highest_value_comes_first_if_asked() -> None:
    assert ranks([3.0, 1.0, 2.0], descending=True) == (1, 3, 2)


def test_equal_values_share_the_better_place() -> None:
    assert ranks([2.0, 1.0, 2.0, 5.0]) == (2, 1, 2, 4)


def test_an_undefined_value_has_no_place_and_takes_none() -> None:
    assert ranks([None, 1.0, 2.0]) == (None, 1, 2)
