"""What averages of weighted samples are off the truth on average."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.suite import evaluate_stack
from offdiag.metrics.weighted.bias import expected_bias
from offdiag.metrics.weighted.counts import Floats, WeightedCounts
from offdiag.metrics.weighted.intervals import weighted_evidence, weighted_suite_intervals
from support.matrices import numbered_labels

K = 20
OF_CLASSES = K * (1 / np.arange(1, K + 1)) / (1 / np.arange(1, K + 1)).sum()
"""Weights of a test set with as many samples of each class: class i has a share of 1/i."""


def drawn(rng: np.random.Generator, n_samples: int) -> WeightedCounts:
    """One in five answers is wrong, and falls on any other class."""
    actual = rng.integers(0, K, n_samples)
    wrong = (actual + rng.integers(1, K, n_samples)) % K
    predicted = np.where(rng.random(n_samples) < 0.8, actual, wrong)
    return WeightedCounts.of_samples(actual, predicted, OF_CLASSES[actual], numbered_labels(K))


def macro_precision(sums: Floats) -> float:
    names = numbered_labels(K).names
    return float(evaluate_stack(sums, ordinal=False, names=names).aggregate[KEY].value)


KEY = "macro_precision"
CELLS = np.full((K, K), 0.2 / (K - 1)) + np.eye(K) * (0.8 - 0.2 / (K - 1))
TRUE = macro_precision(CELLS * OF_CLASSES[:, np.newaxis] * 1e6)


def test_the_bias_is_what_test_sets_are_off_on_average() -> None:
    rng = np.random.default_rng(1)
    off = [macro_precision(drawn(rng, 600).sums) - TRUE for _ in range(300)]

    evidence = weighted_evidence(drawn(np.random.default_rng(2), 600))
    found = expected_bias(evidence, (KEY, "mcc"), seed=0)

    assert np.mean(off) > 0.015
    assert found[KEY] == pytest.approx(np.mean(off), rel=0.3)
    assert abs(found["mcc"]) < 0.01


def test_intervals_of_light_classes_hold_the_truth_which_test_sets_are_far_above() -> None:
    """Draws of the posterior alone held it in 57 of 100 data sets of 30 classes."""
    rng, n_sets, n_held = np.random.default_rng(5), 25, 0
    for _ in range(n_sets):
        found = drawn(rng, 600)
        suite = evaluate_stack(found.sums, ordinal=False, names=found.labels.names)
        intervals = weighted_suite_intervals(found, suite, seed=1, replicates=300)
        low, high = intervals.aggregate[KEY].bounds.at()
        assert low is not None
        assert high is not None
        n_held += low <= TRUE <= high

    assert n_held >= 0.85 * n_sets
