"""DeLong's test: undefined cases and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.delong import delong

TRUTH = [1, 1, 1, 0, 0, 0, 0, 1]
SCORE = [0.9, 0.8, 0.3, 0.4, 0.2, 0.6, 0.1, 0.7]
OTHER = [0.2, 0.9, 0.6, 0.5, 0.3, 0.1, 0.4, 0.8]


def test_scores_that_rank_alike_have_no_variance_and_no_p() -> None:
    found = delong(TRUTH, SCORE, np.exp(SCORE))

    assert found.auc_a == found.auc_b
    assert found.difference == 0.0
    assert (found.z, found.p) == (None, None)
    assert found.reason == "zero_variance"
    assert found.interval() == (None, None)


def test_exchanging_the_scores_turns_the_sign_only() -> None:
    forward, backward = delong(TRUTH, SCORE, OTHER), delong(TRUTH, OTHER, SCORE)

    assert forward.z is not None
    assert forward.z == pytest.approx(-(backward.z or 0))
    assert forward.p == pytest.approx(backward.p)
    assert (forward.auc_a, forward.auc_b) == (backward.auc_b, backward.auc_a)


def test_the_interval_of_the_difference_excludes_zero_where_p_is_small() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.4
    good, poor = rng.normal(size=400) + 2 * truth, rng.normal(size=400) + 0.2 * truth

    found = delong(truth, poor, good)

    low, high = found.interval()
    assert found.p is not None
    assert found.p < 0.001
    assert low is not None
    assert high is not None
    assert 0 < low < (found.difference or 0) < high <= 1


@pytest.mark.parametrize(
    ("truth", "reason"),
    [([1, 1, 1], "no_actual_negatives"), ([0, 0, 0], "no_actual_positives")],
)
def test_one_class_alone_has_no_area(truth: list[int], reason: str) -> None:
    found = delong(truth, [1, 2, 3], [3, 2, 1])

    assert (found.auc_a, found.auc_b, found.z, found.p) == (None,) * 4
    assert found.reason == reason


def test_no_cases_have_no_area() -> None:
    assert delong([], [], []).reason == "no_cases"


def test_a_single_case_of_a_class_has_areas_but_no_test() -> None:
    found = delong([1, 0, 0], [3, 2, 1], [1, 2, 3])

    assert (found.auc_a, found.auc_b) == (1.0, 0.0)
    assert (found.standard_error, found.z, found.p) == (None, None, None)
    assert found.reason == "zero_over_zero"


@pytest.mark.parametrize(
    ("truth", "first", "second", "field"),
    [
        ([0, 1, 2], [1, 2, 3], [1, 2, 3], "y_true"),
        (["a", "b"], [1, 2], [1, 2], "y_true"),
        ([0, 1], [1, 2, 3], [1, 2], "score_a"),
        ([0, 1], [1, 2], [1], "score_b"),
        ([0, 1], [1, float("nan")], [1, 2], "score_a"),
        ([0, 1], [1, 2], [1, float("inf")], "score_b"),
    ],
)
def test_unusable_arrays_are_refused(truth: Any, first: Any, second: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        delong(truth, first, second)

    assert caught.value.field == field
