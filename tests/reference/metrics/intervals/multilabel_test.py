"""Slopes of averages of sets against differences of their values, and coverage of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals.multilabel import Shares, multilabel_intervals
from offdiag.metrics.multilabel.examples import example_metrics
from offdiag.metrics.multilabel.label_averages import averages_of_hits, label_averages
from offdiag.metrics.multilabel.sets import distinct_patterns
from offdiag.metrics.multilabel.tally import tally_sets
from support.optional import present

Sets = NDArray[np.bool_]


def random_sets(n_samples: int, n_labels: int) -> tuple[Sets, Sets]:
    """Empty sets on either side, and a last label that is never true, occur among them."""
    rng = np.random.default_rng(n_samples)
    actual = rng.random((n_samples, n_labels)) < 0.35
    actual[:, -1] = False
    return actual, actual ^ (rng.random((n_samples, n_labels)) < 0.3)


def metrics_of(actual: Sets, predicted: Sets) -> dict[str, float]:
    tally = tally_sets(actual, predicted)
    found = {**example_metrics(tally.examples), **label_averages(tally.labels)}
    return {
        key: np.nan if value.value is None else value.value
        for key, value in found.items()
        if key != "subset_accuracy"
    }


def test_what_a_sample_adds_to_an_average_is_its_slope() -> None:
    patterns = distinct_patterns(*random_sets(60, 4))
    members = patterns.actual & patterns.predicted, patterns.actual, patterns.predicted

    def averages(count: NDArray[np.float64]) -> dict[str, float]:
        right, actual, predicted = (np.asarray(count @ each) for each in members)
        found = averages_of_hits(right, actual, predicted, float(count.sum()))
        return {key: each.at().value or 0.0 for key, each in found.items()}

    step, count = 1e-6, patterns.count.astype(np.float64)
    for key, share in Shares(patterns).found():
        assert present(share).value == averages(count)[key], key
        for place in range(len(count)):
            more, less = (
                averages(count + sign * step * (np.arange(len(count)) == place))[key]
                for sign in (1, -1)
            )
            slope = 60 * (more - less) / (2 * step)
            assert present(share).added[place] == pytest.approx(slope, abs=1e-5), key


def test_intervals_of_averages_cover_the_truth() -> None:
    rng = np.random.default_rng(30)
    shares = np.array([0.5, 0.3, 0.2])

    def draw(n_samples: int) -> tuple[Sets, Sets]:
        actual = rng.random((n_samples, 3)) < shares
        return actual, actual ^ (rng.random((n_samples, 3)) < [0.1, 0.2, 0.1])

    truth = metrics_of(*draw(400_000))
    keys = ("hamming_loss", "example_f1", "micro_f1", "macro_f1", "weighted_precision")
    covered: dict[str, list[bool]] = {key: [] for key in keys}

    for _ in range(150):
        found = multilabel_intervals(*draw(200)).aggregate
        for key in keys:
            low, high = found[key].low, found[key].high
            covered[key].append(present(low) <= truth[key] <= present(high))

    for key in keys:
        assert 0.90 <= np.mean(covered[key]) <= 0.985, key
