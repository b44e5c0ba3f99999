"""Intervals of average precision."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.scores.average_precision import (
    average_precision_interval,
    average_precision_variance,
)
from offdiag.metrics.probabilistic.discrimination import average_precision
from support.forecasts import ranked

# Ties within and between the classes, and negatives below and above all positives.
ACTUAL = [1, 0, 1, 1, 0, 1, 0, 0, 1, 0]
SCORES = [0.9, 0.95, 0.7, 0.7, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1]


def test_the_variance_is_the_sum_of_squared_slopes() -> None:
    step = 10_000

    def with_more_of(case: int) -> float:
        numbers = [step + (case == place) for place in range(len(ACTUAL))]
        value = average_precision(
            ranked(np.repeat(ACTUAL, numbers).tolist(), np.repeat(SCORES, numbers).tolist())
        ).value
        assert value is not None
        return value

    value = average_precision(ranked(ACTUAL, SCORES)).value
    assert value is not None
    slopes = [(with_more_of(case) - value) * step for case in range(len(ACTUAL))]

    assert average_precision_variance(ranked(ACTUAL, SCORES)) == pytest.approx(
        np.square(slopes).sum(), rel=1e-3
    )


def test_the_interval_holds_its_value() -> None:
    found = average_precision_interval(ranked(ACTUAL, SCORES))
    value = average_precision(ranked(ACTUAL, SCORES)).value

    assert found.low is not None
    assert found.high is not None
    assert value is not None
    assert 0 < found.low < value < found.high < 1
    assert found.provenance == (
        "delta, logit scale, student t; unreliable, smaller class has n = 5"
    )


@pytest.mark.parametrize(
    ("actual", "scores", "note"),
    [
        ([1] * 5 + [0] * 5, [0.9] * 5 + [0.1] * 5, "no variation among the cases"),
        ([1] * 4 + [0] * 9, [0.5, 0.4] * 6 + [0.9], "unreliable, smaller class has n = 4"),
        ([0, 0], [0.5, 0.4], "unreliable, smaller class has n = 0"),
        ([1, 1], [0.5, 0.4], "unreliable, smaller class has n = 0"),
    ],
)
def test_nothing_to_estimate_a_variance_from_gives_no_interval(
    actual: list[int], scores: list[float], note: str
) -> None:
    found = average_precision_interval(ranked(actual, scores))

    assert (found.low, found.high) == (None, None)
    assert found.note == note


def test_the_interval_reaches_as_far_as_student_t_of_the_positive_cases() -> None:
    found = average_precision_interval(ranked(ACTUAL, SCORES))
    value = average_precision(ranked(ACTUAL, SCORES)).value
    assert value is not None
    assert found.high is not None

    error = average_precision_variance(ranked(ACTUAL, SCORES)) ** 0.5 / (value * (1 - value))
    reach = np.log(found.high / (1 - found.high)) - np.log(value / (1 - value))

    assert reach / error == pytest.approx(2.776445, rel=1e-6)  # 4 degrees of freedom
