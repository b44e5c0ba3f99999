"""Several runs: which are significantly worse than the best, and which may be the best."""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.comparison.many import ManyComparison, compare_many
from offdiag.comparison.many_verdict import many_verdict
from offdiag.comparison.rank_status import RankStatus
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.hypothesis_tests import holm
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.paired.simultaneous_tests import paired_statistics, pooled_matrix
from support.matrices import numbered_labels
from support.optional import present

LABELS = numbered_labels(3)
N = 600


def actual() -> NDArray[np.uint8]:
    return np.arange(N, dtype=np.uint8) % 3


def run(*, right: float, seed: int) -> NDArray[np.uint8]:
    """Answers of which a share is right, and the rest the following class."""
    rng = np.random.default_rng(seed)
    truth = actual()
    return np.where(rng.random(N) < right, truth, (truth + 1) % 3).astype(np.uint8)


GOOD, EQUALLY_GOOD, BAD = (run(right=0.9, seed=1), run(right=0.89, seed=2), run(right=0.6, seed=3))


def compared(*runs: NDArray[np.uint8] | ConfusionMatrix) -> ManyComparison:
    return compare_many(actual(), runs, labels=LABELS)


@pytest.fixture(scope="module")
def three() -> ManyComparison:
    """The bad run, the good one and its equal."""
    return compared(BAD, GOOD, EQUALLY_GOOD)


def statuses(many: ManyComparison, key: str = "overall_accuracy") -> list[RankStatus]:
    return [place.rank_status for place in many.places[key]]


def test_the_highest_and_those_without_significant_difference_are_marked(
    three: ManyComparison,
) -> None:
    for key in three.places:
        assert statuses(three, key) == [
            RankStatus.BEHIND,
            RankStatus.BEST,
            RankStatus.NOT_SEPARABLE,
        ], key


def test_differences_are_against_the_highest(three: ManyComparison) -> None:
    for key, places in three.places.items():
        best = places[1].value.value
        for place in (places[0], places[2]):
            assert place.compared_with == 1
            behind = present(place.value.value) - present(best)
            assert present(place.behind).value == pytest.approx(behind), key
            assert behind <= 0


def test_the_interval_that_is_shown_is_the_one_that_decides() -> None:
    runs = [BAD, GOOD, EQUALLY_GOOD, run(right=0.86, seed=4), run(right=0.84, seed=5)]
    many = compared(*runs)

    seen = set()
    for found in (*many.places.values(), *many.recall):
        for place in found:
            if place.rank_status not in {RankStatus.BEHIND, RankStatus.NOT_SEPARABLE}:
                continue
            assert place.behind is not None
            is_worse = place.rank_status is RankStatus.BEHIND
            assert (present(place.p_adjusted) < 0.05) == is_worse
            if place.behind.ci_high is not None:
                assert (place.behind.ci_high < 0) == is_worse
                seen.add(place.rank_status)
    assert seen == {RankStatus.BEHIND, RankStatus.NOT_SEPARABLE}


def test_p_of_a_difference_is_that_of_the_two_runs_with_slopes_at_all_of_them(
    three: ManyComparison,
) -> None:
    place = three.places["mcc"][0]
    joint = joint_counts(actual=actual(), first=GOOD, second=BAD, labels=LABELS)
    matrices = [each for each in three.matrices if isinstance(each, ConfusionMatrix)]
    gradients = aggregate_gradients(pooled_matrix(matrices), ["mcc"])
    assert place.behind is not None
    statistic = paired_statistics(joint, gradients, {"mcc": present(place.behind.value)})["mcc"]
    assert place.p == pytest.approx(erfc(abs(statistic.t) / sqrt(2)))


def test_what_two_runs_alone_would_show_is_not_said_among_many() -> None:
    truth = actual()
    slightly_worse = truth.copy()
    slightly_worse[:5] = (truth[:5] + 1) % 3
    others = []
    for start in (5, 10, 15, 20, 25):
        other = truth.copy()
        other[start : start + 3] = (truth[start : start + 3] + 1) % 3
        others.append(other)

    alone = compared(truth, slightly_worse, truth.copy())
    many = compared(truth, slightly_worse, *others)

    assert statuses(alone)[1] is RankStatus.BEHIND
    assert statuses(many)[1] is RankStatus.NOT_SEPARABLE
    place = many.places["overall_accuracy"][1]
    assert place.p == pytest.approx(erfc(sqrt(5) / sqrt(2)))
    assert present(place.p_adjusted) > 0.05


def test_recall_of_a_class_that_one_run_misses_is_told() -> None:
    truth = actual()
    blind = np.where((truth == 2) & (np.arange(N) % 2 == 0), 0, truth).astype(np.uint8)

    many = compared(truth, GOOD, blind)

    assert [places[2].rank_status for places in many.recall] == [
        RankStatus.BEST,
        RankStatus.BEST,
        RankStatus.BEHIND,
    ]
    assert "By recall significantly worse than the best (3 classes compared together)" in (
        many_verdict(many).text
    )


def test_a_class_with_few_examples_keeps_averages_from_being_tested() -> None:
    truth = actual()
    truth[truth == 2] = 1
    truth[:3] = 2
    runs = [np.where(each == 2, 0, each).astype(np.uint8) for each in (GOOD, EQUALLY_GOOD, BAD)]

    many = compare_many(truth, runs, labels=LABELS)

    assert statuses(many, "balanced_accuracy")[2] is RankStatus.NOT_TESTED
    assert statuses(many, "macro_f1")[2] is RankStatus.NOT_TESTED
    assert statuses(many)[2] is RankStatus.BEHIND
    assert {place.rank_status for place in many.recall[2]} == {RankStatus.BEST}
    text = many_verdict(many).text
    assert (
        "Not tested, because a class has fewer than 5 examples: balanced accuracy, macro F1 and "
        f"the recall of {LABELS.names[2]} (3 examples)."
    ) in text
    assert text.startswith("A leads on accuracy, MCC and Cohen's kappa;")


def test_cochran_is_asked_about_all_runs_at_once(three: ManyComparison) -> None:
    equal = compared(GOOD, GOOD, GOOD)

    assert three.cochran is not None
    assert present(three.cochran.p) < 1e-6
    assert present(equal.cochran).reason == "no_discordant_pairs"


def test_every_pair_of_runs_is_counted(three: ManyComparison) -> None:
    truth = actual()
    first = three.pairs[0]
    assert [(pair.first, pair.second) for pair in three.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert first.only_first == np.count_nonzero((truth == BAD) & (truth != GOOD))
    assert first.only_second == np.count_nonzero((truth != BAD) & (truth == GOOD))
    assert [pair.p_adjusted for pair in three.pairs] == holm(
        [pair.p for pair in three.pairs]
    ).tolist()


def test_a_matrix_is_compared_without_pairs() -> None:
    matrix = ConfusionMatrix(count_pairs(actual(), BAD, n_classes=3), LABELS)

    many = compared(GOOD, EQUALLY_GOOD, matrix)

    place = many.places["mcc"][2]
    assert many.unpaired == (2,)
    assert place.rank_status is RankStatus.BEHIND
    assert present(place.behind).ci_method == "simultaneous, square and add, unpaired"
    assert many.recall[0][2].rank_status is RankStatus.BEHIND
    paired = many.places["mcc"][1 - _highest(many, "mcc")]
    assert present(paired.behind).ci_method == "simultaneous, slopes at the pooled matrix"
    assert many.cochran is None
    assert "C is a matrix without predictions" in many_verdict(many).text


def _highest(many: ManyComparison, key: str) -> int:
    return statuses(many, key).index(RankStatus.BEST)


def test_matrices_alone_are_compared_as_if_of_other_examples() -> None:
    matrices = [
        ConfusionMatrix(count_pairs(actual(), each, n_classes=3), LABELS)
        for each in (GOOD, EQUALLY_GOOD, BAD)
    ]

    many = compared(*matrices)

    for key in many.places:
        assert sorted(statuses(many, key)) == [
            RankStatus.BEHIND,
            RankStatus.BEST,
            RankStatus.NOT_SEPARABLE,
        ], key
        assert statuses(many, key)[2] is RankStatus.BEHIND
    assert many.pairs == ()


def test_the_order_of_matrices_without_any_variance_changes_nothing() -> None:
    """The values of a perfect run and of one that predicts one class cannot vary, but for
    rounding, which must not be taken for the error of their difference.
    """
    cells = [
        [[20, 5, 1], [3, 30, 2], [1, 1, 3]],
        [[25, 1, 0], [3, 31, 1], [0, 0, 5]],
        [[26, 0, 0], [0, 35, 0], [0, 0, 5]],
        [[0, 26, 0], [0, 35, 0], [0, 5, 0]],
    ]
    matrices = [ConfusionMatrix(np.array(each, np.int64), LABELS) for each in cells]
    expected = compared(*matrices)

    for order in ((3, 2, 1, 0), (1, 3, 0, 2)):
        found = compared(*(matrices[at] for at in order))
        for key, places in expected.places.items():
            assert statuses(found, key) == [places[at].rank_status for at in order], (key, order)

    assert statuses(expected)[3] is RankStatus.BEHIND


def test_a_run_whose_metric_is_undefined_has_no_place() -> None:
    always = np.zeros(N, np.uint8)

    many = compared(GOOD, EQUALLY_GOOD, always)

    assert statuses(many, "mcc")[2] is RankStatus.UNDEFINED
    assert statuses(many, "overall_accuracy")[2] is RankStatus.BEHIND


def test_what_all_runs_are_equally_good_at_counts_as_compared() -> None:
    truth = actual()
    misses = np.where((truth == 2) & (np.arange(N) < 300), 0, truth).astype(np.uint8)
    others = np.where((truth == 2) & (np.arange(N) >= 300), 0, truth).astype(np.uint8)
    fewer = np.where((truth == 1) & (np.arange(N) < 60), 0, truth).astype(np.uint8)

    verdict = many_verdict(compared(misses, others, fewer))

    assert "(3 classes compared together)" in verdict.text
    assert "compared together" not in many_verdict(compared(misses, misses)).text


ALWAYS = np.zeros(N, np.uint8)
"""A run that predicts one class, for which the MCC is undefined."""


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (
            (GOOD, BAD, ALWAYS),
            "A leads on MCC; B is significantly worse than the best; C has no value.",
        ),
        (
            (GOOD, EQUALLY_GOOD, ALWAYS),
            "By MCC none of 2 runs is significantly worse than the best; C has no value.",
        ),
        ((GOOD, GOOD, ALWAYS), "By MCC A and B are equally high; C has no value."),
        (
            (GOOD, EQUALLY_GOOD, BAD, ALWAYS, ALWAYS),
            (
                "By MCC A is highest (0.853); B shows no significant difference from it; C is "
                "significantly worse than the best; D and E have no value."
            ),
        ),
        ((GOOD, ALWAYS, ALWAYS), "By MCC only A has a value."),
    ],
)
def test_nothing_is_said_of_how_good_a_run_without_a_value_is(
    runs: tuple[NDArray[np.uint8], ...], said: str
) -> None:
    verdict = many_verdict(compared(*runs))

    about_mcc = [each for each in (verdict.headline, *verdict.details) if "MCC" in each]
    assert about_mcc == [said]


def test_equal_runs_are_all_highest() -> None:
    many = compared(GOOD, GOOD, GOOD)

    assert statuses(many) == statuses(many, "mcc") == [RankStatus.BEST] * 3
    verdict = many_verdict(many)
    assert verdict.headline == "By every primary metric all runs are equally high."
    assert "All runs get the same examples right." in verdict.text


@pytest.mark.parametrize(
    ("runs", "headline"),
    [
        (
            (BAD, GOOD, EQUALLY_GOOD),
            (
                "By every primary metric B is highest; C shows no significant difference from "
                "it; A is significantly worse than the best."
            ),
        ),
        (
            (GOOD, BAD, run(right=0.62, seed=9)),
            "A leads on every primary metric; all others are significantly worse than the best.",
        ),
        (
            (GOOD, GOOD, BAD),
            (
                "By every primary metric A and B are highest; C is significantly worse than the "
                "best."
            ),
        ),
    ],
)
def test_the_verdict_names_the_highest_and_who_may_be_as_good(
    runs: tuple[NDArray[np.uint8], ...], headline: str
) -> None:
    verdict = many_verdict(compared(*runs))

    assert verdict.headline == headline
    assert "The runs do not get equally many examples right (Cochran's Q" in verdict.text
    assert "All 3 runs and 5 metrics are compared together (95 %)." in verdict.details


def test_no_run_worse_than_the_best_is_said_as_such() -> None:
    close = [run(right=0.8, seed=seed) for seed in (11, 12, 13)]

    verdict = many_verdict(compared(*close))

    assert verdict.headline == (
        "By every primary metric none of 3 runs is significantly worse than the best."
    )
    assert (
        "By recall no run is significantly worse than the best on any class (3 classes compared "
        "together)."
    ) in verdict.details
