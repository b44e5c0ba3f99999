"""On which classes wrong answers fall."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.posterior import prior_of_others


def test_wrong_answers_that_fall_evenly_may_fall_anywhere() -> None:
    evenly = np.full((5, 5), 3) + np.eye(5, dtype=np.int64) * 50

    assert prior_of_others(evenly) == 1.0


def test_wrong_answers_that_fall_on_one_class_stay_there() -> None:
    on_one = np.eye(5, dtype=np.int64) * 50 + np.roll(np.eye(5, dtype=np.int64) * 9, 1, axis=1)

    assert prior_of_others(on_one) == 1 / 20


def test_half_of_the_pairs_on_one_class_are_those_of_a_prior_between() -> None:
    """Two of six wrong answers of a class fall twice on one: 3 (a + 1) = 1 + 4 a for 1 in 3."""
    counts = np.diag([9] * 5)
    counts[0, 1:] = [2, 2, 0, 0]
    alike = 4 / 12

    assert prior_of_others(counts) == pytest.approx(min((1 - alike) / (alike * 4 - 1), 1.0))


def test_a_single_wrong_answer_says_nothing_of_where_others_fall() -> None:
    counts = np.diag([9, 9, 9])
    counts[0, 2] = 1

    assert prior_of_others(counts) == 1 / 6
