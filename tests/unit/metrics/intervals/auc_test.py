"""Intervals of the area under the ROC curve."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.auc import (
    area_bounds,
    auc_interval,
    placements,
    variance_of_mean_placement,
)
from offdiag.metrics.probabilistic.ranked import RankedScores, rank_scores

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


def test_the_interval_ends_where_the_measured_area_is_just_compatible() -> None:
    area, n_positive, n_negative = 0.8, 12, 40
    z2, others = 1.959963984540054**2, (12 + 40) / 2 - 1

    # |area - t| = z sqrt(V(t)) squared, and multiplied by m n (2 - t) (1 + t): a polynomial in t.
    t = np.poly1d([1, 0])
    denominators = (2 - t) * (1 + t)
    spread = denominators + others * ((1 - t) * (1 + t) + t * (2 - t))
    roots = ((area - t) ** 2 * denominators * 480 - z2 * t * (1 - t) * spread).roots
    expected = sorted(root.real for root in roots if 0 < root.real < 1 and abs(root.imag) < 1e-9)

    assert area_bounds(area, n_positive, n_negative) == pytest.approx(expected, rel=1e-9)


def test_two_classes_that_are_separated_have_an_interval_too() -> None:
    ends = area_bounds(1.0, 10, 40)

    # At an area of 1 both sides of the equation have a factor 1 - t.
    low = ends[0]
    spread = 1 + 24 * ((1 - low) / (2 - low) + low / (1 + low))
    assert (1 - low) * 400 == pytest.approx(1.959963984540054**2 * low * spread, rel=1e-9)
    assert ends[1] == 1.0


def test_more_cases_and_less_confidence_give_a_shorter_interval() -> None:
    few, many = area_bounds(0.9, 20, 80), area_bounds(0.9, 40, 160)
    narrow = area_bounds(0.9, 20, 80, confidence=0.8)

    assert few[0] < many[0] < 0.9 < many[1] < few[1]
    assert few[0] < narrow[0] < 0.9 < narrow[1] < few[1]


@pytest.mark.parametrize(
    ("n_positive", "note", "has_ends"),
    [
        (4, "unreliable, smaller class has n = 4", False),
        (0, "unreliable, smaller class has n = 0", False),
        (5, "unreliable, smaller class has n = 5", True),
        (19, "unreliable, smaller class has n = 19", True),
        (20, None, True),
    ],
)
def test_below_five_cases_of_a_class_there_are_no_ends(
    n_positive: int, note: str | None, has_ends: bool
) -> None:
    rng = np.random.default_rng(1)

    interval = auc_interval(RankedScores(np.sort(rng.random(n_positive)), np.sort(rng.random(30))))

    assert (interval.low is not None, interval.high is not None) == (has_ends, has_ends)
    assert (interval.method, interval.note) == ("newcombe method 5", note)


def test_reversing_the_score_mirrors_the_interval() -> None:
    forward, backward = (
        auc_interval(rank_scores(TRUTH, score), confidence=0.9) for score in (SCORE, -SCORE)
    )

    assert backward.low == pytest.approx(1 - (forward.high or 0))
    assert backward.high == pytest.approx(1 - (forward.low or 0))
