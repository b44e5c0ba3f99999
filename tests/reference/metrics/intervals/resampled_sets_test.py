"""Averages of resampled pattern counts against the metrics of the resampled cases themselves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals.multilabel import SetAverages, multilabel_intervals
from offdiag.metrics.multilabel.examples import example_metrics
from offdiag.metrics.multilabel.label_averages import label_averages
from offdiag.metrics.multilabel.sets import distinct_patterns
from offdiag.metrics.multilabel.tally import tally_sets

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


@pytest.mark.parametrize(
    ("n_samples", "draws"),
    [
        (4, list(product(range(4), repeat=4))),
        (60, np.random.default_rng(1).integers(0, 60, (50, 60)).tolist()),
    ],
    ids=["every resample of four", "some resamples of sixty"],
)
def test_counts_of_patterns_give_the_metrics_of_the_cases(
    n_samples: int, draws: list[list[int]]
) -> None:
    actual, predicted = random_sets(n_samples, 3)
    patterns = distinct_patterns(actual, predicted)
    both = np.concatenate([actual, predicted], axis=1)
    of_patterns = np.concatenate([patterns.actual, patterns.predicted], axis=1)
    belongs = (both[:, np.newaxis] == of_patterns).all(axis=2)
    times = np.array([np.bincount(drawn, minlength=n_samples) for drawn in draws])

    found = SetAverages(patterns)((times @ belongs).astype(np.float64))

    expected = [metrics_of(actual[list(drawn)], predicted[list(drawn)]) for drawn in draws]
    assert found.keys() == expected[0].keys()
    for key, values in found.items():
        np.testing.assert_allclose(
            values, [each[key] for each in expected], atol=1e-12, err_msg=key
        )


def test_intervals_of_averages_cover_the_truth() -> None:
    rng = np.random.default_rng(30)
    shares = np.array([0.5, 0.3, 0.2])

    def draw(n_samples: int) -> tuple[Sets, Sets]:
        actual = rng.random((n_samples, 3)) < shares
        return actual, actual ^ (rng.random((n_samples, 3)) < [0.1, 0.2, 0.1])

    truth = metrics_of(*draw(400_000))
    keys = ("hamming_loss", "example_f1", "micro_f1", "macro_f1", "weighted_precision")
    covered: dict[str, list[bool]] = {key: [] for key in keys}

    for seed in range(150):
        found = multilabel_intervals(*draw(200), seed=seed, replicates=400).aggregate
        for key in keys:
            low, high = found[key].low, found[key].high
            assert low is not None
            assert high is not None
            covered[key].append(low <= truth[key] <= high)

    for key in keys:
        assert 0.90 <= np.mean(covered[key]) <= 0.985, key
