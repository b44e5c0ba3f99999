"""Bounds of accuracy and recall under a noise matrix, and of the lead of a run, by brute force."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from offdiag.metrics.label_errors.noise import bounds_under_noise, most_wrong_labels
from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_the_extremes_over_all_ways_to_spread_the_noise(seed: int) -> None:
    random = np.random.default_rng(seed)
    given = np.repeat([0, 1], 4)
    predicted = random.integers(0, 3, 8)
    true_counts = [random.multinomial(4, [0.6, 0.2, 0.2]), random.multinomial(4, [0.2, 0.6, 0.2])]
    noise = np.zeros((3, 3))
    noise[:2] = np.array(true_counts) / 8
    counts = np.bincount(given * 3 + predicted, minlength=9).reshape(3, 3)

    found = bounds_under_noise(counts, noise)

    parts = [set(permutations(np.repeat([0, 1, 2], each))) for each in true_counts]
    truths = [np.array(a + b) for a, b in product(*parts)]
    accuracies = [float((truth == predicted).mean()) for truth in truths]
    assert found.low == pytest.approx(min(accuracies))
    assert found.high == pytest.approx(max(accuracies))
    for code in range(3):
        recalls = [
            (predicted[truth == code] == code).mean() for truth in truths if (truth == code).any()
        ]
        if recalls:
            ends = found.recall_low[code], found.recall_high[code]
            assert ends == (pytest.approx(min(recalls)), pytest.approx(max(recalls)))
        else:
            assert np.isnan(found.recall_low[code])


def test_without_noise_bounds_are_the_values() -> None:
    counts = np.array([[8, 2], [1, 9]])

    found = bounds_under_noise(counts, np.diag([0.5, 0.5]))

    assert [found.low, found.high] == pytest.approx([0.85, 0.85])
    assert found.recall_low.tolist() == found.recall_high.tolist() == [0.8, 0.9]


@pytest.mark.parametrize(("first", "second", "n"), [(40, 5, 500), (300, 20, 1_000), (12, 0, 80)])
def test_the_lead_ends_with_one_more_wrong_label(first: int, second: int, n: int) -> None:
    most = most_wrong_labels(first, second, n, confidence=0.95)

    def leads(moved: int) -> bool:
        rates = PairedRates(*map(np.array, (first - moved, second + moved, n)))
        return bool(paired_score_interval(rates).high < 0)

    assert 0 <= most < first
    assert leads(most)
    assert not leads(most + 1)


def test_a_lead_that_chance_explains_holds_under_no_noise() -> None:
    assert most_wrong_labels(10, 8, 200, confidence=0.95) == -1
