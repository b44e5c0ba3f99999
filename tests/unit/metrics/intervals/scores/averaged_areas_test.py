"""Intervals of areas averaged over classes."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.auc import placements, variance_of_mean_placement
from offdiag.metrics.intervals.scores.averaged_areas import (
    area_slopes,
    averaged_area_intervals,
    averaged_area_variances,
)
from offdiag.metrics.probabilistic.multiclass_auc import auc_averages, pairwise_wins

RNG = np.random.default_rng(3)
ACTUAL = np.repeat(np.arange(3, dtype=np.uint8), [12, 5, 8])
# Two digits make ties; the actual class scores higher.
SCORES = np.round(RNG.random((25, 3)) + 0.3 * np.eye(3)[ACTUAL], 1)
KEYS = ("roc_auc_ovr_macro", "roc_auc_ovr_weighted", "roc_auc_ovo_macro", "roc_auc_ovo_weighted")


@pytest.mark.parametrize("key", KEYS)
def test_slopes_are_what_one_more_case_changes(key: str) -> None:
    step = 3_000
    wins = pairwise_wins(ACTUAL, SCORES)
    at_case = []
    for case in range(len(ACTUAL)):
        numbers = np.full(len(ACTUAL), step)
        numbers[case] += 1
        more = pairwise_wins(np.repeat(ACTUAL, numbers), np.repeat(SCORES, numbers, axis=0))
        change = (auc_averages(more)[key].value or 0) - (auc_averages(wins)[key].value or 0)
        at_case.append(change * step)
    slopes = np.array(at_case)
    expected = sum(
        part.var(ddof=1) * len(part) + len(part) * part.mean() ** 2
        for part in (slopes[code == ACTUAL] for code in range(3))
    )

    found = averaged_area_variances(ACTUAL, SCORES, area_slopes(wins))[key]

    assert found == pytest.approx(expected, rel=2e-3)


def test_for_two_classes_every_average_has_the_variance_of_delong() -> None:
    is_positive = RNG.random(60) < 0.4
    p = np.round(RNG.random(60) + np.where(is_positive, 0.3, 0.0), 1)
    codes = is_positive.astype(np.uint8)
    found = placements(is_positive, p)
    expected = variance_of_mean_placement(found.of_positives, found.of_negatives)
    table = np.stack([-p, p], axis=1)

    variances = averaged_area_variances(codes, table, area_slopes(pairwise_wins(codes, table)))

    for key in KEYS:
        assert variances[key] == pytest.approx(expected, rel=1e-9), key


def test_intervals_hold_their_values() -> None:
    values = auc_averages(pairwise_wins(ACTUAL, SCORES))

    for key, found in averaged_area_intervals(ACTUAL, SCORES).items():
        value = values[key].value
        assert found.low is not None
        assert found.high is not None
        assert value is not None
        assert found.low < value < found.high
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
    found = averaged_area_intervals(np.array(actual, np.uint8), SCORES[:14])

    for interval in found.values():
        assert (interval.low, interval.high, interval.note) == (None, None, note)


def test_perfect_separation_has_no_spread() -> None:
    actual = np.repeat(np.arange(3, dtype=np.uint8), 20)

    for found in averaged_area_intervals(actual, np.eye(3)[actual]).values():
        assert found.note == "no variation among the cases"


def test_a_single_declared_class_gives_no_interval() -> None:
    found = averaged_area_intervals(np.zeros(4, np.uint8), np.ones((4, 1)))

    assert all((each.low, each.high) == (None, None) for each in found.values())
