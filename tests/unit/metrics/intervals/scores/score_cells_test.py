"""Cases counted by score and outcome."""

from __future__ import annotations

from offdiag.metrics.intervals.scores.score_cells import score_cells
from support.forecasts import ranked


def test_equal_scores_of_both_outcomes_are_two_neighbouring_cells() -> None:
    cells = score_cells(ranked([1, 0, 0, 1, 1, 0], [0.5, 0.5, 0.2, 0.9, 0.5, 0.2]))

    assert cells.score.tolist() == [0.2, 0.5, 0.5, 0.9]
    assert cells.is_positive.tolist() == [False, False, True, True]
    assert cells.count.tolist() == [2, 1, 2, 1]
    assert cells.group_starts.tolist() == [0, 1, 3]
    assert cells.surplus.tolist() == [0.2, 0.5, -0.5, 0.9 - 1]


def test_one_outcome_alone_is_enough() -> None:
    cells = score_cells(ranked([0, 0], [0.1, 0.3]))

    assert cells.is_positive.tolist() == [False, False]
    assert cells.count.tolist() == [1, 1]
