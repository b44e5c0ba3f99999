"""How many samples decide: published figures, ranges, and what the present ones settle."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from offdiag.metrics.paired.hypothesis_tests import mcnemar
from offdiag.metrics.paired.sample_size import samples_by_class, samples_for_metric, samples_needed


@pytest.mark.parametrize(
    ("discordance", "difference", "needed"), [(0.10, 0.02, 1_959), (0.06, 0.01, 4_706)]
)
def test_a_known_disagreement_needs_what_the_formula_says(
    discordance: float, difference: float, needed: int
) -> None:
    n = 100_000
    half = int(n * discordance / 2)

    found = samples_needed(half, half, n, difference=difference)

    assert found.needed == pytest.approx(needed, abs=2)
    assert found.low < found.needed < found.high


def test_so_many_samples_find_the_difference_four_times_in_five() -> None:
    disagreement, difference = 0.10, 0.03
    n = samples_needed(500, 500, 10_000, difference=difference).needed
    shares = [(disagreement - difference) / 2, (disagreement + difference) / 2, 1 - disagreement]
    draws = np.random.default_rng(3).multinomial(n, shares, size=2_000)

    found = [mcnemar(int(b), int(c)).chi2_p for b, c, _ in draws]

    assert np.mean([p is not None and p < 0.05 for p in found]) == pytest.approx(0.8, abs=0.03)


def test_what_the_present_samples_settle_needs_just_them() -> None:
    found = samples_needed(20, 30, 500, difference=0.02)

    assert found.detectable is not None
    assert samples_needed(20, 30, 500, difference=found.detectable).needed <= 500
    assert samples_needed(20, 30, 500, difference=found.detectable * 0.99).needed > 500


def test_runs_that_never_disagree_need_as_many_as_differ_by_that_much() -> None:
    found = samples_needed(0, 0, 100, difference=0.05)

    assert found.needed == samples_needed(5, 0, 100, difference=0.05).needed
    assert samples_needed(0, 0, 2, difference=0.05).detectable is None


def test_any_metric_needs_four_times_the_samples_for_half_the_difference() -> None:
    one = samples_for_metric(1_000, 0.01, difference=0.02)

    assert one == pytest.approx(1_000 * (2.8016 / 2) ** 2, abs=1)
    assert samples_for_metric(1_000, 0.01, difference=0.01) == pytest.approx(4 * one, abs=4)
    # Of accuracy it agrees with the count of disagreements, but for their small asymmetry.
    needed = samples_needed(50, 50, 1_000, difference=0.02).needed
    assert samples_for_metric(1_000, sqrt(100) / 1_000, difference=0.02) == pytest.approx(
        needed, rel=0.01
    )


def test_classes_alike_share_what_the_metric_needs() -> None:
    discordant, sizes = np.array([8, 8]), np.array([100, 100])
    error = sqrt((discordant / sizes**2).sum()) / 2

    further = samples_by_class(discordant, sizes, difference=0.02)

    needed = samples_for_metric(200, error, difference=0.02)
    assert further.tolist() == [pytest.approx(needed / 2 - 100, abs=1)] * 2


def test_no_other_split_settles_the_difference_with_fewer_labels() -> None:
    discordant, sizes = np.array([6, 40, 3]), np.array([30, 400, 5_000])
    further = samples_by_class(discordant, sizes, difference=0.03)
    allowed = (0.03 / (1.959964 + 0.841621)) ** 2
    rates = discordant / sizes

    def is_enough(first: int, second: int) -> bool:
        more = np.array([first, second, 0])
        return bool((rates / (sizes + more)).sum() / 9 <= allowed)

    assert further[2] == 0, "a class that has more than its part keeps them"
    assert is_enough(further[0], further[1])
    enough = [
        first + second
        for first in range(0, 1_000, 5)
        for second in range(0, 1_000, 5)
        if is_enough(first, second)
    ]
    assert further.sum() <= min(enough) + 2


def test_present_labels_that_suffice_ask_for_none() -> None:
    further = samples_by_class(np.array([1, 0, 0]), np.array([9_000, 9_000, 0]), difference=0.05)

    assert further.tolist() == [0, 0, 0]
