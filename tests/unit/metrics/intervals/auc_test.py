"""Intervals of the area under the ROC curve."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.auc import auc_interval, placements, variance_of_mean_placement

# Twelve positives and eight negatives, with ties within and between the classes.
TRUTH = np.array([1] * 12 + [0] * 8, bool)
SCORE = np.array([9, 8, 8, 7, 7, 6, 5, 5, 5, 4, 3, 1, 7, 6, 5, 4, 3, 3, 2, 1], float)


def test_placements_count_pairs_won_with_ties_counting_half() -> None:
    found = placements(TRUTH, SCORE)

    positives, negatives = SCORE[TRUTH], SCORE[~TRUTH]
    won = 2 * (positives[:, None] > negatives) + (positives[:, None] == negatives)
    assert found.of_positives.tolist() == won.sum(axis=1).tolist()
    assert found.of_negatives.tolist() == won.sum(axis=0).tolist()
    assert found.area == pytest.approx(won.mean() / 2)


def test_the_variance_has_denominators_m_minus_1_and_n_minus_1() -> None:
    found = placements(TRUTH, SCORE)
    of_positives, of_negatives = found.of_positives / 16, found.of_negatives / 24

    variance = variance_of_mean_placement(found.of_positives, found.of_negatives)

    assert variance == pytest.approx(
        of_positives.var(ddof=1) / 12 + of_negatives.var(ddof=1) / 8, rel=1e-12
    )


def test_the_interval_is_symmetric_on_the_logit_scale() -> None:
    interval = auc_interval(TRUTH, SCORE)
    area = placements(TRUTH, SCORE).area

    assert interval.low is not None
    assert interval.high is not None
    logit = np.log([p / (1 - p) for p in (interval.low, area, interval.high)])
    assert logit[1] - logit[0] == pytest.approx(logit[2] - logit[1])
    assert 0 < interval.low < area < interval.high < 1
    assert interval.note == "unreliable, smaller class has n = 8"


@pytest.mark.parametrize(
    ("truth", "score", "note"),
    [
        ([1, 1, 0, 0], [3, 4, 1, 2], "no variation among the cases"),
        ([1, 1, 0, 0], [1, 1, 1, 1], "no variation among the cases"),
        ([1, 0, 0], [2, 1, 3], "smaller class has n = 1"),
        ([1, 1], [2, 1], "smaller class has n = 0"),
        ([], [], "smaller class has n = 0"),
    ],
)
def test_nothing_to_estimate_a_variance_from_gives_no_interval(
    truth: list[int], score: list[float], note: str
) -> None:
    interval = auc_interval(np.array(truth, bool), np.array(score, float))

    assert (interval.low, interval.high) == (None, None)
    assert interval.note == note


def test_reversing_the_score_mirrors_the_interval() -> None:
    forward, backward = auc_interval(TRUTH, SCORE), auc_interval(TRUTH, -SCORE)

    assert backward.low == pytest.approx(1 - (forward.high or 0))
    assert backward.high == pytest.approx(1 - (forward.low or 0))
