"""What is reported at a threshold, from either class, and what thinning keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.metrics.scores.operating_points import (
    MOST_HULL_CORNERS,
    OperatingPoints,
    of_other_class,
    operating_points,
    reduced,
)
from offdiag.metrics.scores.ranking import RankedScores, rank_scores
from support.forecasts import ranked

POINTS = operating_points(ranked([0, 1, 0, 1, 1], [0.1, 0.4, 0.4, 0.8, 1.0]))


@pytest.mark.parametrize(
    ("threshold", "reported"), [(2.0, 0), (1.0, 1), (0.9, 1), (0.8, 2), (0.4, 4), (0.0, 5)]
)
def test_any_threshold_leads_to_the_cases_with_at_least_that_score(
    threshold: float, reported: int
) -> None:
    assert POINTS.reported[POINTS.at(threshold)] == reported


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_threshold_in_double_precision_leads_to_scores_that_are_kept_in_single(
    kind: type[np.floating[Any]],
) -> None:
    scores = np.arange(1, 20) / 20
    points = operating_points(rank_scores(scores > 0.5, scores.astype(kind)))
    other = of_other_class(points)

    for threshold in scores:
        assert points.reported[points.at(threshold)] == np.count_nonzero(scores >= threshold)
        assert other.reported[other.at(threshold)] == np.count_nonzero(scores < threshold)
    assert points.reported[points.at(1e300)] == 0
    # Single precision has 0.60000002 for 0.6, by which a score of 0.6 would not be reported.
    by_given_out = [np.count_nonzero(scores >= each) for each in points.float64_thresholds]
    assert by_given_out == points.reported.tolist()
    below = [np.count_nonzero(scores < each) for each in other.float64_thresholds]
    assert below == other.reported.tolist()


@pytest.mark.parametrize(
    ("threshold", "reported"), [(2.0, 5), (1.0, 4), (0.9, 4), (0.8, 3), (0.4, 1), (0.0, 0)]
)
def test_the_other_class_is_reported_for_the_cases_below_a_threshold(
    threshold: float, reported: int
) -> None:
    other = of_other_class(POINTS)

    assert other.reports_below
    assert other.reported[other.at(threshold)] == reported


def test_a_threshold_is_written_with_as_many_digits_as_report_the_same_cases() -> None:
    scores = np.array([0.1, 0.30796, 0.30804, 0.9, 0.99997], np.float32)
    points = operating_points(rank_scores(scores > 0.5, scores))

    texts = [points.threshold_text(float(each)) for each in points.thresholds]

    assert texts[1:] == ["0.99997", "0.9", "0.308", "0.30796", "0.1"]
    for place, text in enumerate(texts):
        assert np.count_nonzero(scores >= np.float32(text)) == points.reported[place]
    other = of_other_class(points)
    assert other.threshold_text(float(other.thresholds[1])) == "0.30796"


def test_the_curve_of_the_other_class_is_that_of_negated_scores() -> None:
    other = of_other_class(POINTS)
    negated = operating_points(ranked([1, 0, 1, 0, 0], [-0.1, -0.4, -0.4, -0.8, -1.0]))

    assert other.true_positives.tolist() == negated.true_positives.tolist()
    assert other.false_positives.tolist() == negated.false_positives.tolist()


def test_the_other_class_of_the_other_class_is_the_class_itself() -> None:
    again = of_other_class(of_other_class(POINTS))

    assert not again.reports_below
    assert again.thresholds.tolist() == POINTS.thresholds.tolist()
    assert again.true_positives.tolist() == POINTS.true_positives.tolist()


def test_precision_at_another_prevalence_follows_from_the_rates() -> None:
    at = POINTS.at(0.4)

    assert POINTS.precision()[at] == 3 / 4
    assert POINTS.precision(0.01)[at] == pytest.approx(0.01 / (0.01 + 0.5 * 0.99))
    assert np.isnan(POINTS.precision(0.01)[0])


def test_precision_at_the_measured_prevalence_is_the_measured_precision() -> None:
    assert POINTS.precision(3 / 5)[1:] == pytest.approx(POINTS.precision()[1:])


@pytest.mark.parametrize(
    ("counts", "place"), [((0, 0), 0), ((2, 0), 2), ((3, 2), 4), ((1, 1), None), ((3, 3), None)]
)
def test_the_threshold_behind_counts_is_found_if_there_is_one(
    counts: tuple[int, int], place: int | None
) -> None:
    assert POINTS.of_counts(*counts) == place


def test_rates_without_cases_to_rate_are_undefined() -> None:
    only_negative = operating_points(ranked([0, 0], [0.2, 0.7]))

    assert np.isnan(only_negative.recall).all()
    assert only_negative.false_positive_rate.tolist() == [0.0, 0.5, 1.0]


def test_no_cases_have_no_points() -> None:
    nothing = operating_points(RankedScores(np.zeros(0), np.zeros(0, np.bool_)))

    assert len(nothing) == len(reduced(nothing, cells=8)) == 0


def test_a_threshold_above_the_largest_float_is_infinite() -> None:
    largest = np.array([np.finfo(np.float32).max], dtype=np.float32)

    points = operating_points(rank_scores(np.array([True]), largest))

    assert np.isinf(points.thresholds[0])


def test_few_points_are_all_kept() -> None:
    assert reduced(POINTS, cells=100).thresholds.tolist() == POINTS.thresholds.tolist()


def test_many_points_become_few_and_say_how_many_there_were() -> None:
    points = _many(100_000)

    few = reduced(points, cells=64)

    assert len(few) <= 8 * 64 + 4 + MOST_HULL_CORNERS
    assert few.n_thresholds == points.n_thresholds == 100_001
    assert (few.true_positives[-1], few.false_positives[-1]) == (
        points.n_positive,
        points.n_negative,
    )


def test_what_is_asked_for_is_kept() -> None:
    points = _many(20_000)
    wanted = [4_321, 12_345]

    few = reduced(points, cells=8, kept=wanted)

    for place in wanted:
        counts = int(points.true_positives[place]), int(points.false_positives[place])
        assert few.of_counts(*counts) is not None


def _many(n_samples: int) -> OperatingPoints:
    generator = np.random.default_rng(3)
    is_positive = generator.random(n_samples) < 0.2
    return operating_points(
        rank_scores(is_positive, generator.random(n_samples) + is_positive / 3)
    )
