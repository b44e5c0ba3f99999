"""Tango's interval: published figures, its width without discordance, and its coverage."""

from __future__ import annotations

from itertools import product
from math import factorial

import numpy as np
import pytest

from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval


def interval(
    only_first: int, only_second: int, cases: int, confidence: float = 0.95
) -> tuple[float, float]:
    rates = PairedRates(np.array(only_first), np.array(only_second), np.array(cases))
    bounds = paired_score_interval(rates, confidence=confidence)
    return float(bounds.low), float(bounds.high)


def coverage(n: int, p_first: float, p_second: float) -> float:
    """Exact probability that the 95 % interval of n pairs holds the true difference."""
    truth = p_second - p_first
    pairs = [(b, c) for b, c in product(range(n + 1), repeat=2) if b + c <= n]
    first, second = (np.array(part) for part in zip(*pairs, strict=True))
    bounds = paired_score_interval(PairedRates(first, second, np.full(len(pairs), n)))
    neither = 1 - p_first - p_second
    return sum(
        factorial(n)
        // (factorial(b) * factorial(c) * factorial(n - b - c))
        * p_first**b
        * p_second**c
        * neither ** (n - b - c)
        for (b, c), low, high in zip(pairs, bounds.low, bounds.high, strict=True)
        if low <= truth <= high
    )


def test_airway_reactivity_before_and_after_is_as_published() -> None:
    # Fagerland, Lydersen and Laake (2014): 21 children, 1 and 7 discordant ones.
    assert interval(7, 1, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)


def test_an_interval_at_another_level_is_as_computed_by_propcis() -> None:
    # scoreci.mp(25, 28, 618, 0.90) of the R package PropCIs.
    assert interval(25, 28, 618, 0.9) == pytest.approx((-0.0148, 0.0247), abs=5e-5)


@pytest.mark.parametrize("n", [1, 21, 10_000])
def test_without_a_discordant_case_the_width_is_what_n_warrants(n: int) -> None:
    z_squared = 1.959963984540054**2

    low, high = interval(0, 0, n)

    assert high == pytest.approx(z_squared / (n + z_squared), rel=1e-9)
    assert low == pytest.approx(-high, rel=1e-9)


def test_runs_that_differ_in_every_case_reach_the_border() -> None:
    assert interval(0, 15, 15)[1] == 1.0
    assert interval(15, 0, 15)[0] == -1.0


def test_without_cases_there_is_no_interval() -> None:
    assert np.isnan(interval(0, 0, 0)).all()


@pytest.mark.parametrize(("n", "p_first", "p_second"), [(20, 0.1, 0.1), (20, 0.3, 0.1)])
def test_it_covers_small_samples_about_as_often_as_it_says(
    n: int, p_first: float, p_second: float
) -> None:
    assert coverage(n, p_first, p_second) == pytest.approx(0.95, abs=0.015)


def test_it_covers_rare_differences_where_the_bootstrap_collapses() -> None:
    # With discordance of 1 % and 0.5 %, 74 % of samples of 20 have no discordant case at all; an
    # interval that is then a point can cover the true difference of 0.5 % only by chance.
    assert coverage(20, 0.010, 0.005) > 0.95


def test_large_counts_keep_their_digits() -> None:
    low, high = interval(10**9, 10**9, 10**13)

    reach = 1.959963984540054 * np.sqrt(2e9) / 1e13
    assert low == pytest.approx(-reach, rel=1e-6)
    assert high == pytest.approx(reach, rel=1e-6)
