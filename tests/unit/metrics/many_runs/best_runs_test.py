"""The highest of many equally good runs is not as good as it looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.gradients import Floats
from offdiag.metrics.many_runs.best_runs import best_of_many
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.suite import evaluate_stack

KEYS = ("overall_accuracy", "balanced_accuracy")
N_EXPERIMENTS = 15


def score(stack: NDArray[np.int64]) -> dict[str, Floats]:
    suite = evaluate_stack(stack, ordinal=False)
    return {key: np.asarray(suite.aggregate[key].value, np.float64) for key in KEYS}


def equally_good(rng: np.random.Generator, *, n: int, n_runs: int, accuracy: float) -> PairedRuns:
    """Runs that share six of ten coin tosses, each with the same true accuracy."""
    actual = (rng.random(n) < 0.5).astype(np.uint8)
    shared, is_shared = rng.random(n), rng.random((n_runs, n)) < 0.6
    own = rng.random((n_runs, n))
    right = np.where(is_shared, shared, own) < accuracy
    return paired(actual, [np.where(each, actual, 1 - actual) for each in right])


def paired(actual: NDArray[Any], predicted: Sequence[NDArray[Any]]) -> PairedRuns:
    codes = tuple(each.astype(np.uint8) for each in predicted)
    return PairedRuns(actual.astype(np.uint8), codes, LabelSet.numbered(2))


def test_the_correction_takes_the_optimism_away() -> None:
    rng = np.random.default_rng(11)
    raw, corrected = [], []
    for seed in range(N_EXPERIMENTS):
        runs = equally_good(rng, n=200, n_runs=10, accuracy=0.85)
        found = best_of_many(runs, score, seed=seed)["overall_accuracy"]
        assert found.corrected.value is not None
        raw.append(found.value - 0.85)
        corrected.append(found.corrected.value - 0.85)

    assert np.mean(raw) > 0.02
    assert abs(np.mean(corrected)) < 3 * np.std(corrected) / np.sqrt(N_EXPERIMENTS) + 0.004


def test_a_run_that_leads_by_far_keeps_its_value() -> None:
    rng = np.random.default_rng(2)
    runs = equally_good(rng, n=2_000, n_runs=4, accuracy=0.6)
    better = np.where(rng.random(2_000) < 0.95, runs.actual, 1 - runs.actual)

    found = best_of_many(paired(runs.actual, [*runs.predictions, better]), score, seed=0)

    for key in KEYS:
        assert (found[key].run, found[key].n_runs) == (4, 5)
        assert found[key].corrected.value == pytest.approx(found[key].value, abs=0.003)


def test_the_order_of_runs_does_not_matter() -> None:
    runs = equally_good(np.random.default_rng(5), n=150, n_runs=5, accuracy=0.8)
    turned = paired(runs.actual, runs.predictions[::-1])

    one = best_of_many(runs, score, seed=7)["balanced_accuracy"]
    other = best_of_many(turned, score, seed=7)["balanced_accuracy"]

    assert other.value == one.value
    assert other.corrected.value == pytest.approx(one.corrected.value, abs=0.01)


def test_a_class_of_one_sample_leaves_nothing_to_correct_with() -> None:
    actual = np.array([1, *[0] * 30], np.uint8)
    runs = paired(actual, [actual, np.zeros(31), np.ones(31)])

    found = best_of_many(runs, score, seed=0)["balanced_accuracy"]

    assert (found.run, found.value) == (0, 1.0)
    assert (found.corrected.value, found.corrected.reason) == (None, "too_few_of_a_class")
