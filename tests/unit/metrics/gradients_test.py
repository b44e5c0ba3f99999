"""Dual numbers: each operation carries the right derivative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from offdiag.metrics.gradients import Dual, share, variables

X = np.array([0.3, 1.7])
Y = np.array([2.5, 0.4])

FUNCTIONS: dict[str, Callable[[Dual, Dual], Dual]] = {
    "sum": lambda x, y: x + y + 2.0,
    "reflected sum": lambda x, y: 2.0 + x + y,
    "difference": lambda x, y: x - y - 1.0,
    "reflected difference": lambda x, y: 1.0 - x - y,
    "product": lambda x, y: 3.0 * x * y,
    "quotient": lambda x, y: x / y,
    "quotient by a number": lambda x, y: (x + y) / 4.0,
    "root": lambda x, y: (x * y).sqrt(),
    "logarithm": lambda x, y: (x + 2.0 * y).log(),
    "exponential": lambda x, y: (x - y).exp(),
    "share": share,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_are_those_of_central_differences(name: str) -> None:
    function, step = FUNCTIONS[name], 1e-6

    slope = function(*variables(X, Y)).slope

    for place, (dx, dy) in enumerate([(step, 0.0), (0.0, step)]):
        above = function(*variables(X + dx, Y + dy)).value
        below = function(*variables(X - dx, Y - dy)).value
        assert slope[place] == pytest.approx((above - below) / (2 * step), rel=1e-7, abs=1e-9)


def test_a_total_keeps_the_slope_of_every_class() -> None:
    x, y = variables(X, Y)

    total = (x * y).total()

    assert total.value == pytest.approx((X * Y).sum())
    assert total.slope == pytest.approx(np.stack([Y, X]))


def test_a_quotient_of_totals_follows_the_quotient_rule() -> None:
    x, y = variables(X, Y)

    ratio = x.total() / y.total()

    assert ratio.slope[0] == pytest.approx(np.full(2, 1 / Y.sum()))
    assert ratio.slope[1] == pytest.approx(np.full(2, -X.sum() / Y.sum() ** 2))


def test_a_share_of_nothing_is_zero_and_flat() -> None:
    part, whole = variables(np.array([0.0, 0.2]), np.array([0.0, 0.5]))

    found = share(part, whole)

    assert found.value.tolist() == [0.0, 0.4]
    assert found.slope[:, 0].tolist() == [0.0, 0.0]
