"""A class that weighs far more than others, and of which few samples are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.suite import evaluate_stack
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.metrics.weighted.intervals import (
    equal_wrong,
    heaviest_wrong,
    weighted_evidence,
    weighted_suite_intervals,
)
from support.matrices import numbered_labels

KEYS = ("mcc", "weighted_f1", "cohen_kappa")
K = 10
LABELS = numbered_labels(K)
OF_CLASSES = np.array([100.0] + [1.0] * (K - 1))
RECALL = 0.97


def drawn(rng: np.random.Generator) -> WeightedCounts:
    """300 samples, of which one or none of the heavy class is wrong."""
    actual = rng.integers(0, K, 300)
    wrong = (actual + rng.integers(1, K, 300)) % K
    predicted = np.where(rng.random(300) < RECALL, actual, wrong)
    return WeightedCounts.of_samples(actual, predicted, OF_CLASSES[actual], LABELS)


def test_half_a_wrong_answer_more_is_of_the_heaviest_class() -> None:
    evidence = weighted_evidence(drawn(np.random.default_rng(1)))

    more = heaviest_wrong(evidence, LABELS).cells - evidence.cells

    assert more[0].sum() == pytest.approx(1 / 2 - 1 / K)
    assert more[1:] == pytest.approx(np.zeros((K - 1, K)))


def test_intervals_hold_the_truth_where_no_heavy_sample_is_wrong() -> None:
    """Without the half wrong answer 71 to 82 of 100."""
    cells = np.full((K, K), (1 - RECALL) / (K - 1))
    np.fill_diagonal(cells, RECALL)
    population = evaluate_stack(
        cells * OF_CLASSES[:, np.newaxis] * 1e6, ordinal=False, names=LABELS.names
    ).aggregate
    rng, n_held = np.random.default_rng(7), dict.fromkeys(KEYS, 0)
    for _ in range(30):
        found = drawn(rng)
        suite = evaluate_stack(found.sums, ordinal=False, names=LABELS.names)
        intervals = weighted_suite_intervals(found, suite, seed=1, replicates=200).aggregate
        for key in KEYS:
            low, high = intervals[key].bounds.at()
            assert low is not None
            assert high is not None
            n_held[key] += low <= float(population[key].value) <= high

    assert min(n_held.values()) >= 26


def test_averages_over_classes_that_weigh_differently_need_more_wrong_predictions() -> None:
    few, many = (WeightedCounts(each, each * W, each * W**2, THREE) for each in (FEW, FEW * 100))

    assert equal_wrong(few) == pytest.approx(8 / 3 * 506**2 / (420 * 10 + 43 + 43) / 128)
    assert note_of(few, "macro_precision") == (
        "unreliable, weights of classes leave n = 1.2 wrong predictions for each"
    )
    assert note_of(few, "weighted_precision") == note_of(few, "macro_precision")
    assert note_of(few, "balanced_accuracy") is None
    assert note_of(few, "balanced_accuracy_adjusted") is None
    assert note_of(few, "weighted_f1") is None
    assert note_of(many, "macro_precision") is None


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_classes_that_weigh_alike_are_as_reliable_as_without_weights(weight: float) -> None:
    alike = WeightedCounts(FEW, FEW * weight, FEW * weight**2, THREE)

    assert equal_wrong(alike) is None
    assert note_of(alike, "macro_precision") is None


THREE = numbered_labels(3)
FEW = np.array([[40, 1, 1], [2, 40, 1], [2, 1, 40]])
W = np.array([[10.0], [1.0], [1.0]])


def note_of(found: WeightedCounts, key: str) -> str | None:
    suite = evaluate_stack(found.sums, ordinal=False, names=found.labels.names)
    intervals = weighted_suite_intervals(found, suite, seed=1, replicates=100)
    return intervals.aggregate[key].at().note
