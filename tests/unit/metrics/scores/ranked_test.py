"""Scores in order, with exact counts of ties."""

from __future__ import annotations

import numpy as np

from offdiag.metrics.scores.ranked import doubled_wins, rank_scores
from support.forecasts import ranked


def test_counts_at_each_distinct_score() -> None:
    scores = ranked([0, 1, 1, 0, 1], [0.2, 0.5, 0.5, 0.5, 0.9])

    assert scores.values.tolist() == [0.2, 0.5, 0.9]
    assert scores.cases_below.tolist() == [0, 1, 4, 5]
    assert scores.positives_below.tolist() == [0, 0, 2, 3]
    assert scores.negatives_below.tolist() == [0, 1, 2, 2]


def test_thresholds_descend_from_one_above_the_largest_score() -> None:
    scores = ranked([0, 1, 1], [0.2, 0.5, 1.0])

    assert scores.thresholds.tolist() == [np.nextafter(1.0, 2.0), 1.0, 0.5, 0.2]
    assert scores.true_positives.tolist() == [0, 1, 2, 2]
    assert scores.false_positives.tolist() == [0, 0, 0, 1]


def test_negative_and_positive_zero_are_one_score() -> None:
    assert len(ranked([0, 1], [-0.0, 0.0]).values) == 1


def test_scores_tie_in_the_precision_they_came_in() -> None:
    close = np.array([0.1, 0.1 + 1e-12])
    is_positive = np.array([False, True])

    in_double = rank_scores(is_positive, close)
    in_single = rank_scores(is_positive, close.astype(np.float32))

    assert doubled_wins(in_double) == 2
    assert doubled_wins(in_single) == 1


def test_wins_do_not_depend_on_which_group_is_larger() -> None:
    few = ranked([1, 0, 0, 0], [0.5, 0.1, 0.5, 0.9])
    many = ranked([1, 1, 1, 0], [0.1, 0.5, 0.9, 0.5])

    assert doubled_wins(few) == 3
    assert doubled_wins(many) == 3
