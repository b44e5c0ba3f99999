"""Differences of macro averages between runs that find hardly any sample of a label."""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.multilabel_runs.judged_sets import judge_sets_together, set_contest
from support.set_runs import paired_runs

Z = normal_quantile(0.95)
KEYS = ("macro_recall", "macro_f1", "micro_f1")
COMMON, RARE = 80, 8
"""Samples with the first and with the second label, of 200."""

Sets = NDArray[np.bool_]


def sets_with_the_same_hits() -> tuple[Sets, Sets, Sets]:
    """Actual sets and two runs that differ on six samples with the first label."""
    actual = np.zeros((200, 2), np.bool_)
    actual[:COMMON, 0] = actual[COMMON : COMMON + RARE, 1] = True
    first = actual.copy()
    first[COMMON : COMMON + 5, 1] = False
    second = first.copy()
    first[:2, 0] = second[2:6, 0] = False
    return actual, first, second


def test_a_label_with_the_same_hits_is_open_as_far_as_tangos_interval() -> None:
    runs = paired_runs(*sets_with_the_same_hits())

    test = judge_sets_together(runs, {"macro_recall": -2 / COMMON / 2})

    # Own errors are less than that of equally good runs, and are not skewed towards 0.
    own = sqrt(6 - 2**2 / COMMON) / COMMON
    near = Z * hypot(own, Z / (RARE + Z**2)) / 2
    found = test.statistics["macro_recall"].ends(test.alone)
    assert found is not None
    assert found[1] == pytest.approx(-2 / COMMON / 2 + near)
    assert found[0] <= -2 / COMMON / 2 - near


def test_micro_averages_and_examples_are_as_if_nothing_were_unseen() -> None:
    runs = paired_runs(*sets_with_the_same_hits())
    keys = ("macro_recall", "micro_recall", "subset_accuracy")

    macro, micro, exact = set_contest(runs, keys).spread.own_errors[:, 0, 1]

    assert macro > Z / (RARE + Z**2) / 2
    assert 0 < micro < sqrt(6) / (COMMON + RARE)
    assert exact == 0


def test_several_runs_have_the_errors_of_two() -> None:
    actual, first, second = sets_with_the_same_hits()
    runs = paired_runs(actual, first, second, actual)

    spread = set_contest(runs, ["macro_recall"]).spread

    own = sqrt(6 - 2**2 / COMMON) / COMMON
    assert spread.own_errors[0, 0, 1] == pytest.approx(hypot(own, Z / (RARE + Z**2)) / 2)
    assert spread.own_errors[0, 0, 1] == spread.own_errors[0, 1, 0]


def test_intervals_of_runs_that_find_hardly_any_of_a_label_hold_the_difference() -> None:
    shares = np.array([0.4, 0.3, 0.3, 0.25, 0.2, 0.04])
    recalls = np.array([[0.9] * 5 + [0.2], [0.9] * 5 + [0.05]])
    hits = shares * recalls
    f1 = 2 * hits / (shares + hits + (1 - shares) * 0.05)
    true = {"macro_recall": np.diff(recalls.mean(axis=1)), "macro_f1": np.diff(f1.mean(axis=1))}
    missed = dict.fromkeys(true, 0)
    rng = np.random.default_rng(7)
    for _ in range(200):
        actual = rng.random((300, 6)) < shares
        shared = rng.random((300, 6))
        answers = []
        for of_run in recalls:
            luck = np.where(rng.random((300, 1)) < 0.6, shared, rng.random((300, 6)))
            answers.append(actual ^ (luck >= np.where(actual, of_run, 0.95)))
        runs = paired_runs(actual, *answers)
        gaps = np.diff(runs.values(KEYS), axis=1)[:, 0]
        test = judge_sets_together(runs, dict(zip(KEYS, gaps.tolist(), strict=True)))
        for key, gap in true.items():
            low, high = test.statistics[key].ends(test.alone) or (-1, 1)
            missed[key] += not low <= gap.item() <= high

    # Without unseen hits 9 and 10 %.
    assert max(missed.values()) <= 0.055 * 200
