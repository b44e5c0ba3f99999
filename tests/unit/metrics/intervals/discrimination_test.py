"""Intervals of the area under the ROC curve."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.discrimination import (
    area_bounds,
    area_slopes,
    auc_interval,
    average_precision_interval,
    average_precision_variance,
    averaged_area_intervals,
    averaged_area_variances,
    ks_bound,
    ks_interval,
    parts_of_mean_placement,
    placements,
)
from offdiag.metrics.scores.discrimination import (
    auc_averages,
    average_precision,
    ks,
    pairwise_wins,
)
from offdiag.metrics.scores.ranking import RankedScores, rank_scores
from support.forecasts import of_table, ranked, ranked_apart
from support.optional import present

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

    variance = sum(parts_of_mean_placement(found.of_positives, found.of_negatives) or ())

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

    interval = auc_interval(ranked_apart(rng.random(n_positive), rng.random(30)))

    assert (interval.low is not None, interval.high is not None) == (has_ends, has_ends)
    assert (interval.method, interval.note) == ("newcombe method 5", note)


def test_reversing_the_score_mirrors_the_interval() -> None:
    forward, backward = (
        auc_interval(rank_scores(TRUTH, score), confidence=0.9) for score in (SCORE, -SCORE)
    )

    assert backward.low == pytest.approx(1 - (forward.high or 0))
    assert backward.high == pytest.approx(1 - (forward.low or 0))


RNG = np.random.default_rng(3)
ACTUAL = np.repeat(np.arange(3, dtype=np.uint8), [12, 5, 8])
# Two digits make ties; the actual class scores higher.
SCORES = np.round(RNG.random((25, 3)) + 0.3 * np.eye(3)[ACTUAL], 1)
KEYS = ("roc_auc_ovr_macro", "roc_auc_ovr_weighted", "roc_auc_ovo_macro", "roc_auc_ovo_weighted")


@pytest.mark.parametrize("key", KEYS)
def test_slopes_are_what_one_more_case_changes(key: str) -> None:
    step = 3_000
    wins = pairwise_wins(of_table(ACTUAL, SCORES))
    at_case = []
    for case in range(len(ACTUAL)):
        numbers = np.full(len(ACTUAL), step)
        numbers[case] += 1
        more = pairwise_wins(
            of_table(np.repeat(ACTUAL, numbers), np.repeat(SCORES, numbers, axis=0))
        )
        change = (auc_averages(more)[key].value or 0) - (auc_averages(wins)[key].value or 0)
        at_case.append(change * step)
    slopes = np.array(at_case)
    expected = sum(
        part.var(ddof=1) * len(part) + len(part) * part.mean() ** 2
        for part in (slopes[code == ACTUAL] for code in range(3))
    )

    found = averaged_area_variances(of_table(ACTUAL, SCORES), area_slopes(wins))[key]

    assert found == pytest.approx(expected, rel=2e-3)


def test_for_two_classes_every_average_has_the_variance_of_delong() -> None:
    is_positive = RNG.random(60) < 0.4
    p = np.round(RNG.random(60) + np.where(is_positive, 0.3, 0.0), 1)
    codes = is_positive.astype(np.uint8)
    found = placements(is_positive, p)
    expected = sum(parts_of_mean_placement(found.of_positives, found.of_negatives) or ())
    forecasts = of_table(codes, np.stack([-p, p], axis=1))

    variances = averaged_area_variances(forecasts, area_slopes(pairwise_wins(forecasts)))

    for key in KEYS:
        assert variances[key] == pytest.approx(expected, rel=1e-9), key


def test_intervals_hold_their_values() -> None:
    values = auc_averages(pairwise_wins(of_table(ACTUAL, SCORES)))

    for key, found in averaged_area_intervals(of_table(ACTUAL, SCORES)).items():
        value = values[key].value
        assert present(found.low) < present(value) < present(found.high)
        assert found.method == "delong, averaged, logit scale"
        assert found.note == "unreliable, smallest class has n = 5"


@pytest.mark.parametrize(
    ("actual", "note"),
    [
        ([0] * 5 + [1] * 5 + [2] * 4, "unreliable, smallest class has n = 4"),
        ([0] * 7 + [1] * 7, "unreliable, smallest class has n = 0"),
    ],
)
def test_a_class_of_fewer_than_five_cases_gives_no_interval(actual: list[int], note: str) -> None:
    found = averaged_area_intervals(of_table(np.array(actual, np.uint8), SCORES[:14]))

    for interval in found.values():
        assert (interval.low, interval.high, interval.note) == (None, None, note)


def test_perfect_separation_has_no_spread() -> None:
    actual = np.repeat(np.arange(3, dtype=np.uint8), 20)

    for found in averaged_area_intervals(of_table(actual, np.eye(3)[actual])).values():
        assert found.note == "no variation among the examples"


def test_a_single_declared_class_gives_no_interval() -> None:
    found = averaged_area_intervals(of_table(np.zeros(4, np.uint8), np.ones((4, 1))))

    assert all((each.low, each.high) == (None, None) for each in found.values())


# Ties within and between the classes, and negatives below and above all positives.
HITS = [1, 0, 1, 1, 0, 1, 0, 0, 1, 0]
RANKED = [0.9, 0.95, 0.7, 0.7, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1]


def test_the_variance_is_the_sum_of_squared_slopes() -> None:
    step = 10_000

    def with_more_of(case: int) -> float:
        numbers = [step + (case == place) for place in range(len(HITS))]
        value = average_precision(
            ranked(np.repeat(HITS, numbers).tolist(), np.repeat(RANKED, numbers).tolist())
        ).value
        assert value is not None
        return value

    value = present(average_precision(ranked(HITS, RANKED)).value)
    slopes = [(with_more_of(case) - value) * step for case in range(len(HITS))]

    assert average_precision_variance(ranked(HITS, RANKED)) == pytest.approx(
        np.square(slopes).sum(), rel=1e-3
    )


def test_the_interval_holds_its_value() -> None:
    found = average_precision_interval(ranked(HITS, RANKED))
    value = average_precision(ranked(HITS, RANKED)).value

    assert 0 < present(found.low) < present(value) < present(found.high) < 1
    assert found.provenance == (
        "delta, logit scale, student t; unreliable, smaller class has n = 5"
    )


@pytest.mark.parametrize(
    ("actual", "scores", "note"),
    [
        ([1] * 5 + [0] * 5, [0.9] * 5 + [0.1] * 5, "no variation among the examples"),
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
    found = average_precision_interval(ranked(HITS, RANKED))
    value = present(average_precision(ranked(HITS, RANKED)).value)
    assert found.high is not None

    error = average_precision_variance(ranked(HITS, RANKED)) ** 0.5 / (value * (1 - value))
    reach = np.log(found.high / (1 - found.high)) - np.log(value / (1 - value))

    assert reach / error == pytest.approx(2.776445, rel=1e-6)  # 4 degrees of freedom


def separated(n_positive: int, n_negative: int) -> RankedScores:
    return ranked_apart(np.linspace(0.3, 1, n_positive), np.linspace(0, 0.7, n_negative))


def test_the_bound_has_the_tabled_factor_at_95_percent() -> None:
    assert ks_bound(50, 200, confidence=0.95) == pytest.approx(1.358 * (1 / 40) ** 0.5, rel=1e-4)


def test_the_interval_lies_around_the_value_and_says_what_chance_shows() -> None:
    ranked = separated(50, 200)
    value = present(ks(ranked).value)

    found = ks_interval(ranked, confidence=0.95)

    assert found.low == pytest.approx(value - 0.2147, abs=1e-4)
    assert found.high == pytest.approx(value + 0.2147, abs=1e-4)
    assert found.note == "a useless score would show up to 0.215 on these examples"


@pytest.mark.parametrize(
    ("n_positive", "low", "note"),
    [
        (0, None, "unreliable, smaller class has n = 0"),
        (4, None, "unreliable, smaller class has n = 4; a useless score would show up to 0.686"),
        (5, 0.0, "unreliable, smaller class has n = 5; a useless score would show up to 0.615"),
    ],
)
def test_few_cases_of_a_class_leave_no_ends_or_the_whole_range(
    n_positive: int, low: float | None, note: str
) -> None:
    found = ks_interval(separated(n_positive, 200), confidence=0.95)

    assert found.low == low
    assert (found.note or "").startswith(note)
