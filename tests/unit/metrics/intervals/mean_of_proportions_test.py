"""The score interval of a mean of proportions."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.proportions import score_of_mean, wilson
from support.optional import present


@pytest.mark.parametrize("hits", [0, 1, 13, 20])
def test_of_one_proportion_it_is_wilsons(hits: int) -> None:
    found = score_of_mean(np.array([hits / 20]), np.array([20.0]), confidence=0.95)

    assert found.at() == pytest.approx(wilson(hits, 20).at(), abs=1e-12)


def test_the_mean_of_equal_proportions_is_as_certain_as_one_of_all_samples() -> None:
    found = score_of_mean(np.full(6, 0.75), np.full(6, 20.0), confidence=0.95)

    assert found.at() == pytest.approx(wilson(90, 120).at(), abs=1e-12)


def test_samples_without_errors_leave_as_many_open_as_the_smallest_class_does() -> None:
    low, high = score_of_mean(np.ones(2), np.array([20.0, 1000.0]), confidence=0.95).at()
    smallest, _ = wilson(20, 20).at()

    assert high == 1.0
    assert low == pytest.approx((present(smallest) + 1) / 2, abs=0.002)


def test_of_many_classes_with_few_errors_it_holds_the_mean() -> None:
    """Ends of the single recalls, combined, held it in 87 of 100 data sets."""
    rng, n_held = np.random.default_rng(3), 0
    for _ in range(200):
        shares = rng.binomial(30, 0.97, 30) / 30
        low, high = score_of_mean(shares, np.full(30, 30.0), confidence=0.95).at()
        n_held += present(low) <= 0.97 <= present(high)

    assert n_held >= 184
