"""Intervals of declared functions of samples."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.custom import CustomMetric, ScoreInput
from offdiag.metrics.intervals.custom_samples import Smallest, value_of_samples

ACTUAL = np.repeat(np.array([0, 1], np.uint8), [90, 10])
SCORES = np.linspace(0.0, 1.0, 100)[:, np.newaxis]


def mean_score(given: ScoreInput) -> float:
    return float(given.scores.mean())


def method_of(smallest: Smallest) -> str:
    found = value_of_samples(
        CustomMetric(mean_score, "scores", {"key": "mean_score", "low": 0.0, "high": 1.0}),
        lambda places: ScoreInput(ACTUAL[places], SCORES[places], ("no", "yes")),
        n_samples=100,
        smallest=smallest,
    )
    assert found.ci_low is not None
    return str(found.ci_method)


def test_resamples_with_few_of_a_class_are_called_unreliable() -> None:
    note = "; unreliable, smallest class has n = 10"

    assert method_of(Smallest.of(np.bincount(ACTUAL), "class")).endswith(note)


@pytest.mark.parametrize("cases", [[80, 20], [100, 0]], ids=["20 of one", "one class"])
def test_resamples_with_enough_of_every_class_are_not(cases: list[int]) -> None:
    assert "unreliable" not in method_of(Smallest.of(np.array(cases), "class"))
