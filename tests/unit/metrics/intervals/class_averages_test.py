"""Intervals of balanced accuracy, macro F1, MCC and kappa."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from offdiag.metrics.intervals.class_averages import shifted
from offdiag.metrics.intervals.suite import suite_intervals
from support.matrices import matrix_of

TWO = [[30, 4], [2, 9]]
THREE = [[40, 6, 4], [5, 38, 7], [2, 8, 40]]


def test_balanced_accuracy_of_two_classes_combines_the_wilson_ends_of_both_recalls() -> None:
    z = norm.ppf(0.975)

    def wilson(x: int, n: int) -> tuple[float, float]:
        centre = (x + z * z / 2) / (n + z * z)
        reach = z / (n + z * z) * np.sqrt(x * (n - x) / n + z * z / 4)
        return centre - reach, centre + reach

    (l1, u1), (l2, u2) = wilson(30, 34), wilson(9, 11)
    p1, p2 = 30 / 34, 9 / 11
    mean = (p1 + p2) / 2
    low = mean - np.hypot(p1 - l1, p2 - l2) / 2
    high = mean + np.hypot(u1 - p1, u2 - p2) / 2

    found = suite_intervals(matrix_of(TWO), seed=1).aggregate

    for key in ("balanced_accuracy", "macro_recall", "macro_recall_strict"):
        assert found[key].bounds.at() == pytest.approx((low, high), rel=1e-12), key
        assert found[key].method == "wilson ends combined (MOVER)"
    adjusted = found["balanced_accuracy_adjusted"].bounds.at()
    assert adjusted == pytest.approx((2 * low - 1, 2 * high - 1), rel=1e-12)


@pytest.mark.parametrize(
    ("counts", "key", "method"),
    [
        (TWO, "macro_f1", "posterior draws with Jeffreys' prior, 2000 draws"),
        (TWO, "mcc", "posterior draws with Jeffreys' prior, 2000 draws"),
        (THREE, "balanced_accuracy", "posterior draws with prior 1/K, 2000 draws"),
        (THREE, "cohen_kappa", "posterior draws with prior 1/K, 2000 draws"),
        (THREE, "macro_f1", "multinomial bootstrap, shifted, 2000 replicates"),
        (
            THREE,
            "macro_f1_strict",
            "multinomial bootstrap, shifted, 2000 replicates",
        ),
    ],
)
def test_the_method_depends_on_the_number_of_classes(
    counts: list[list[int]], key: str, method: str
) -> None:
    assert suite_intervals(matrix_of(counts), seed=1).aggregate[key].method == method


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_but_right_answers_still_leaves_something_open(n_classes: int) -> None:
    found = suite_intervals(matrix_of(np.diag(np.full(n_classes, 25))), seed=1).aggregate

    for key in ("balanced_accuracy", "mcc", "cohen_kappa"):
        low, high = found[key].bounds.at()
        assert low is not None
        assert 0.8 < low < 1.0, key
        assert high == 1.0, key


def test_a_shift_moves_resamples_by_twice_their_bias() -> None:
    values = np.array([0.70, 0.74, np.nan, 0.78])

    found = shifted(values, np.asarray(0.76))

    np.testing.assert_allclose(found, [0.74, 0.78, np.nan, 0.82])
