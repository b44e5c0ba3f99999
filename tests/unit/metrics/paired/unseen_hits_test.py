"""Differences between runs that find no sample of a class."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import hypot, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.many_runs.best_runs import metric_contest
from offdiag.metrics.many_runs.confidence_set import best_set_and_pairs
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.paired.class_changes import sloped_changes
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from offdiag.metrics.paired.simultaneous_tests import (
    JointTest,
    judge_together,
)
from offdiag.metrics.paired.unpaired_runs import judge_unpaired
from offdiag.metrics.paired.weighted import WeightedPair, judge_weighted_together
from offdiag.metrics.suite import evaluate_stack
from support.matrices import numbered_labels, shares_of_two_runs

Z = normal_quantile(0.95)
AVERAGES = ("balanced_accuracy", "macro_f1", "mcc", "cohen_kappa", "macro_precision")

Triple = tuple[int, int, int]


def runs_of(answers: dict[Triple, int], n_classes: int = 2) -> JointCounts:
    """Runs from the number of samples by actual class and both predictions."""
    codes = np.array(list(answers))
    return joint_counts(
        actual=codes[:, 0],
        first=codes[:, 1],
        second=codes[:, 2],
        labels=numbered_labels(n_classes),
        counts=np.array(list(answers.values())),
    )


def gaps(joint: JointCounts, keys: Sequence[str]) -> dict[str, float]:
    before, after = (
        evaluate_stack(each.counts, ordinal=False).aggregate
        for each in (joint.first_matrix, joint.second_matrix)
    )
    return {key: float(after[key].value - before[key].value) for key in keys}


def judged(joint: JointCounts, keys: Sequence[str] = AVERAGES) -> JointTest:
    return judge_together(joint, gaps(joint, keys))


def ends(joint: JointCounts, key: str) -> tuple[float, float]:
    test = judged(joint, [key])
    found = test.statistics[key].ends(test.alone)
    assert found is not None
    return found


RECALLS = ((0.95, 0.2), (0.8, 0.05))
"""Of the frequent and of the rare class, by run: eight samples, of which it finds 1.6 or .4."""


def rare_shares() -> NDArray[np.float64]:
    first, second = RECALLS
    return shares_of_two_runs((292 / 300, 8 / 300), tuple(zip(first, second, strict=True)))


def test_intervals_of_runs_that_find_hardly_any_of_a_class_hold_the_difference() -> None:
    triples: list[Triple] = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]

    def of(counts: NDArray[np.int64]) -> JointCounts:
        pairs = zip(triples, counts.tolist(), strict=True)
        return runs_of({triple: count for triple, count in pairs if count})

    true = gaps(of(np.rint(rare_shares() * 1e9).astype(np.int64)), AVERAGES)
    missed = dict.fromkeys(AVERAGES, 0)
    drawn = np.random.default_rng(3).multinomial(300, rare_shares(), size=200)
    for joint in map(of, drawn):
        test = judged(joint)
        for key in AVERAGES:
            low, high = test.statistics[key].ends(test.alone) or (-1, 1)
            missed[key] += not low <= true[key] <= high

    # Without unseen hits 14 to 20 %.
    assert max(missed.values()) <= 0.05 * 200


@pytest.mark.parametrize(
    ("n", "share", "recalls"),
    [
        (300, 8 / 300, RECALLS),
        (10_000, 0.006, ((0.9985, 0.04), (0.82, 0.75))),
        # As if a class that is all right could not be worse, 29 % of the balanced accuracy.
        (1_000, 0.01, ((0.97, 0.9), (0.9, 0.97))),
    ],
)
def test_intervals_of_such_runs_on_different_samples_hold_the_difference_too(
    n: int, share: float, recalls: tuple[tuple[float, float], ...]
) -> None:
    cells = [
        np.array([[1 - share], [share]]) * [[right, 1 - right], [1 - found, found]]
        for right, found in recalls
    ]

    def test_of(drawn: Sequence[NDArray[np.int64]]) -> tuple[JointTest, dict[str, float]]:
        first, second = (ConfusionMatrix(each, numbered_labels(2)) for each in drawn)
        before, after = (evaluate_stack(each, ordinal=False).aggregate for each in drawn)
        gap = {key: float(after[key].value - before[key].value) for key in AVERAGES}
        return judge_unpaired(first, second, gap), gap

    _, true = test_of([np.rint(each * 1e9).astype(np.int64) for each in cells])
    missed = dict.fromkeys(AVERAGES, 0)
    generator = np.random.default_rng(4)
    for _ in range(200):
        test, _ = test_of([generator.multinomial(n, each.ravel()).reshape(2, 2) for each in cells])
        for key in AVERAGES:
            low, high = test.statistics[key].ends(test.alone) or (-1, 1)
            missed[key] += not low <= true[key] <= high

    # With slopes at the matrix of both alone 17 and 44 % of the macro F1.
    assert max(missed.values()) <= 0.05 * 200


def test_the_recall_of_a_class_that_no_run_finds_is_open_as_far_as_tangos_interval() -> None:
    joint = runs_of({(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 10, (1, 0, 0): 6, (1, 0, 2): 2,
                     (2, 2, 2): 40, (2, 0, 0): 8}, 3)  # fmt: skip

    low, high = ends(joint, "balanced_accuracy")

    frequent = Z * sqrt(10 + 10) / 90 / 3
    unseen = Z**2 / (8 + Z**2) / 3
    assert (low, high) == pytest.approx((-hypot(frequent, unseen), hypot(frequent, unseen)))


@pytest.mark.parametrize("n_hits", [0, 3, 8])
def test_a_class_in_which_runs_have_the_same_hits_is_open_as_far_as_tangos_interval(
    n_hits: int,
) -> None:
    rare = {(1, 1, 1): n_hits, (1, 0, 0): 8 - n_hits}
    frequent = {(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 10}
    joint = runs_of(frequent | {triple: count for triple, count in rare.items() if count})

    low, high = ends(joint, "balanced_accuracy")

    reach = hypot(Z * sqrt(10 + 10) / 90 / 2, Z**2 / (8 + Z**2) / 2)
    assert (low, high) == pytest.approx((-reach, reach))


def test_a_class_in_which_runs_differ_is_as_wide_as_their_error() -> None:
    joint = runs_of({(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 10, (1, 0, 0): 3, (1, 1, 1): 3,
                     (1, 0, 1): 1, (1, 1, 0): 1})  # fmt: skip

    low, high = ends(joint, "balanced_accuracy")

    reach = Z * hypot(sqrt(10 + 10) / 90, sqrt(1 + 1) / 8) / 2
    assert (low, high) == pytest.approx((-reach, reach))


def drawn_runs(
    recalls: Sequence[tuple[float, float]], sizes: tuple[int, int], rng: np.random.Generator
) -> PairedRuns:
    """Runs that share 60 % of their luck, by the recall of the frequent and of the rare class."""
    actual = np.repeat(np.array([0, 1], np.uint8), sizes)
    shared = rng.random(len(actual))
    answers = []
    for of_run in recalls:
        luck = np.where(rng.random(len(actual)) < 0.6, shared, rng.random(len(actual)))
        right = luck < np.array(of_run)[actual]
        answers.append(np.where(right, actual, 1 - actual).astype(np.uint8))
    return PairedRuns(actual, tuple(answers), numbered_labels(2))


@pytest.mark.parametrize(
    ("sizes", "recalls"),
    [
        # Without what is unseen where runs have the same hits 35, 71 and 15 %.
        ((990, 10), ((0.97, 0.9), (0.9, 0.97))),
        ((990, 10), ((0.98, 0.92), (0.95, 0.95), (0.92, 0.98))),
        ((288, 12), ((0.95, 0.3), (0.95, 0.2), (0.9, 0.1), (0.9, 0.05), (0.8, 0.02))),
    ],
)
def test_intervals_of_runs_with_the_same_hits_in_a_small_class_hold_the_differences(
    sizes: tuple[int, int], recalls: tuple[tuple[float, float], ...]
) -> None:
    rng = np.random.default_rng(6)
    missed = 0
    for _ in range(100):
        contest = metric_contest(drawn_runs(recalls, sizes, rng), ["balanced_accuracy"])
        _, tests = best_set_and_pairs(contest, seed=0)
        assert tests is not None
        outside = False
        for first, second in combinations(range(len(recalls)), 2):
            statistic = tests.statistic(first, second)
            reach = statistic.reach(tests.critical)
            gap = (sum(recalls[first]) - sum(recalls[second])) / 2
            outside |= reach is not None and abs(statistic.difference - gap) > reach
        missed += outside

    assert missed <= 5


def test_unseen_hits_of_one_run_open_one_side() -> None:
    frequent = {(0, 0, 0): 8_150, (0, 0, 1): 1_775, (0, 1, 0): 5, (0, 1, 1): 10}
    joint = runs_of({**frequent, (1, 0, 0): 15, (1, 0, 1): 45})

    low, high = ends(joint, "macro_f1")

    # The first run is better, and more so with some hits among the 60 samples.
    (difference,) = gaps(joint, ["macro_f1"]).values()
    assert high < 0
    assert difference - low > 1.5 * (high - difference)


def test_several_classes_without_hits_are_one_count_of_zero() -> None:
    answers = {(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 10, (3, 3, 3): 40}
    one = runs_of({**answers, (1, 0, 0): 8, (2, 2, 2): 8}, 4)
    both = runs_of({**answers, (1, 0, 0): 8, (2, 0, 0): 8}, 4)

    assert ends(both, "balanced_accuracy") == pytest.approx(ends(one, "balanced_accuracy"))


def test_shares_of_right_predictions_are_mcnemars_test_whatever_is_unseen() -> None:
    joint = runs_of({(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 2, (1, 0, 0): 8})

    assert judged(joint, ["overall_accuracy"]).statistics["overall_accuracy"].t == pytest.approx(
        -8 / sqrt(12)
    )


def test_a_metric_without_a_slope_is_as_if_nothing_were_unseen() -> None:
    joint = runs_of({(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 2, (1, 0, 0): 7, (1, 0, 1): 1})

    found = sloped_changes(joint, "gmean", np.full(2, 0.3)).alone.bounds

    assert (found.low > -1).all()
    assert (found.high < 1).all()


@pytest.mark.parametrize("key", AVERAGES)
def test_swapped_runs_and_classes_in_another_order_have_the_same_interval(key: str) -> None:
    answers = {(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 2, (0, 1, 1): 3, (0, 0, 2): 1,
               (1, 1, 1): 20, (1, 0, 1): 4, (2, 0, 0): 5, (2, 1, 2): 1, (1, 2, 1): 1}  # fmt: skip
    order = (2, 0, 1)
    joint = runs_of(answers, 3)
    turned = runs_of(
        {(order[a], order[b], order[c]): count for (a, b, c), count in answers.items()}, 3
    )

    low, high = ends(joint, key)

    assert ends(joint.swapped(), key) == (-high, -low)
    assert ends(turned, key) == pytest.approx((low, high))


def test_of_two_classes_rejections_of_one_are_hits_of_the_other() -> None:
    joint = runs_of({(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 4, (0, 1, 1): 2, (1, 0, 0): 9})
    (difference,) = gaps(joint, ["mcc"]).values()

    of_classes = sloped_changes(joint, "mcc_ovr", np.full(2, difference)).alone.bounds

    expected = ends(joint, "mcc")
    for code in (0, 1):
        assert of_classes.at(code) == pytest.approx(expected)


def test_equal_weights_leave_as_much_unseen_as_counts() -> None:
    joint = runs_of({(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 4, (0, 1, 1): 2, (1, 0, 0): 9})
    actual, first, second = (
        np.repeat(codes, joint.counts) for codes in (joint.actual, joint.first, joint.second)
    )
    pair = WeightedPair(actual, first, second, np.full(len(actual), 2.5), joint.labels)

    weighted = judge_weighted_together(pair, gaps(joint, ["mcc"])).statistics["mcc"]

    found = judged(joint, ["mcc"]).statistics["mcc"]
    assert weighted.ends(2.0) == pytest.approx(found.ends(2.0))


def test_several_runs_may_have_unseen_hits_too() -> None:
    joint = runs_of({(0, 0, 0): 70, (0, 0, 1): 10, (0, 1, 0): 4, (0, 1, 1): 2, (1, 0, 0): 9})
    actual, first, second = (
        np.repeat(codes, joint.counts).astype(np.uint8)
        for codes in (joint.actual, joint.first, joint.second)
    )
    runs = PairedRuns(actual, (first, second, actual), joint.labels)

    accuracy, average = metric_contest(
        runs, ["overall_accuracy", "balanced_accuracy"]
    ).spread.own_errors

    assert average[0, 1] == average[1, 0] > Z / (9 + Z**2) / 2
    assert accuracy[0, 1] < sqrt(10 + 4) / 95
