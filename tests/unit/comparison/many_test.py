"""Several runs: the best one, and those that cannot be told from it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.comparison import many as module
from offdiag.comparison.gaps import paired_gaps
from offdiag.comparison.many import ManyComparison, compare_many
from offdiag.comparison.ranking import many_verdict
from offdiag.comparison.standings import Standing
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counting import count_pairs
from offdiag.metrics.paired.joint import joint_counts
from offdiag.metrics.paired.multiplicity import holm
from support.matrices import numbered_labels

LABELS = numbered_labels(3)
N = 600


def actual() -> NDArray[np.uint8]:
    return np.arange(N, dtype=np.uint8) % 3


def run(*, right: float, seed: int) -> NDArray[np.uint8]:
    """Answers of which a share is right, and the rest the following class."""
    rng = np.random.default_rng(seed)
    truth = actual()
    return np.where(rng.random(N) < right, truth, (truth + 1) % 3).astype(np.uint8)


GOOD, EQUALLY_GOOD, BAD = (
    run(right=0.9, seed=1),
    run(right=0.89, seed=2),
    run(right=0.6, seed=3),
)


def compared(*runs: NDArray[np.uint8] | ConfusionMatrix) -> ManyComparison:
    return compare_many(actual(), runs, labels=LABELS, seed=1, replicates=400)


def standings(many: ManyComparison, key: str = "overall_accuracy") -> list[Standing]:
    return [place.standing for place in many.places[key]]


def test_the_best_and_what_is_not_separable_from_it_are_marked() -> None:
    many = compared(BAD, GOOD, EQUALLY_GOOD)

    for key in many.places:
        assert standings(many, key) == [
            Standing.BEHIND,
            Standing.BEST,
            Standing.NOT_SEPARABLE,
        ], key


def test_differences_are_against_the_best() -> None:
    many = compared(BAD, GOOD, EQUALLY_GOOD)

    for key, places in many.places.items():
        best = places[1].value.value
        for place in (places[0], places[2]):
            assert place.behind is not None
            assert best is not None
            assert place.value.value is not None
            behind = place.value.value - best
            assert place.behind.value == pytest.approx(behind), key
            assert behind <= 0


def test_p_values_are_adjusted_for_the_number_of_runs() -> None:
    many = compared(BAD, GOOD, EQUALLY_GOOD)

    places = many.places["overall_accuracy"]
    raw = [place.p for place in (places[0], places[2]) if place.p is not None]
    assert [places[0].p_adjusted, places[2].p_adjusted] == holm(raw).tolist()


def test_adjustment_can_keep_a_run_from_being_behind() -> None:
    # Alone the difference is just below 0.05, among many runs it is not.
    truth = actual()
    slightly_worse = truth.copy()
    slightly_worse[:6] = (truth[:6] + 1) % 3
    also = truth.copy()
    also[6:12] = (truth[6:12] + 1) % 3

    alone = compared(truth, slightly_worse, truth.copy())
    many = compared(truth, slightly_worse, also, truth.copy(), truth.copy())

    assert alone.places["overall_accuracy"][1].p == pytest.approx(2 / 64)
    assert standings(many)[1] is Standing.NOT_SEPARABLE


def test_cochran_is_asked_about_all_runs_at_once() -> None:
    different, equal = compared(BAD, GOOD, EQUALLY_GOOD), compared(GOOD, GOOD, GOOD)

    assert different.cochran is not None
    assert different.cochran.p is not None
    assert different.cochran.p < 1e-6
    assert equal.cochran is not None
    assert equal.cochran.reason == "no_discordant_pairs"


def test_every_pair_of_runs_is_counted() -> None:
    many = compared(BAD, GOOD, EQUALLY_GOOD)

    truth = actual()
    first = many.pairs[0]
    assert [(pair.first, pair.second) for pair in many.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert first.only_first == np.count_nonzero((truth == BAD) & (truth != GOOD))
    assert first.only_second == np.count_nonzero((truth != BAD) & (truth == GOOD))
    assert [pair.p_adjusted for pair in many.pairs] == holm(
        [pair.p for pair in many.pairs]
    ).tolist()


def test_a_matrix_is_compared_without_pairs() -> None:
    matrix = ConfusionMatrix(count_pairs(actual(), BAD, n_classes=3), LABELS)

    many = compared(GOOD, EQUALLY_GOOD, matrix)

    place = many.places["mcc"][2]
    assert many.unpaired == (2,)
    assert place.standing is Standing.BEHIND
    assert place.behind is not None
    assert place.behind.ci_method == "square and add, unpaired"
    assert many.cochran is None
    assert "C is a matrix without predictions" in many_verdict(many).text


def test_many_runs_are_not_resampled() -> None:
    runs = [run(right=0.7, seed=seed) for seed in range(module.MOST_RESAMPLED + 1)]

    many = compare_many(actual(), runs, labels=LABELS, seed=1)

    assert many.replicates == 0
    methods = {place.behind.ci_method for place in many.places["mcc"] if place.behind is not None}
    assert methods == {"paired delta"}


def test_the_delta_method_and_resampling_agree_about_p() -> None:
    joint = joint_counts(
        actual=actual(), first=GOOD, second=run(right=0.86, seed=5), labels=LABELS
    )
    values = [
        {key: place.value for key, (place, *_) in found.places.items()}
        for found in (
            compared(GOOD, GOOD, GOOD),
            compared(run(right=0.86, seed=5), GOOD, GOOD),
        )
    ]

    resampled, linear = (
        paired_gaps(joint, *values, seed=1, confidence=0.95, replicates=replicates)
        for replicates in (4_000, 0)
    )

    for key, gap in resampled.items():
        expected = linear[key]
        assert gap.p is not None
        assert expected.p is not None
        assert gap.p == pytest.approx(expected.p, abs=0.02), key


def test_a_run_whose_metric_is_undefined_has_no_place() -> None:
    always = np.zeros(N, np.uint8)

    many = compared(GOOD, EQUALLY_GOOD, always)

    assert standings(many, "mcc")[2] is Standing.UNDEFINED
    assert standings(many, "overall_accuracy")[2] is Standing.BEHIND


def test_equal_runs_share_the_first_place_without_being_called_behind() -> None:
    many = compared(GOOD, GOOD, GOOD)

    assert standings(many) == [Standing.BEST, Standing.NOT_SEPARABLE, Standing.NOT_SEPARABLE]
    # Resampling runs that never differ says nothing.
    assert standings(many, "mcc")[1] is Standing.NOT_TESTED


@pytest.mark.parametrize(
    ("runs", "headline"),
    [
        (
            (BAD, GOOD, EQUALLY_GOOD),
            "By every headline metric B is best; C is not separable from it, A is behind.",
        ),
        ((GOOD, BAD, BAD), "By every headline metric A is best and all others are behind."),
    ],
)
def test_the_verdict_names_the_best_and_who_may_be_as_good(
    runs: tuple[NDArray[np.uint8], ...], headline: str
) -> None:
    verdict = many_verdict(compared(*runs))

    assert verdict.headline == headline
    assert "The runs do not get equally many examples right (Cochran's Q" in verdict.text


def test_no_run_separable_from_the_best_is_said_as_such() -> None:
    close = [run(right=0.8, seed=seed) for seed in (11, 12, 13)]

    headline = many_verdict(compared(*close)).headline

    assert headline.endswith("is best, but no other run is separable from it.")


def test_equal_runs_get_the_same_examples_right() -> None:
    assert "All runs get the same examples right." in many_verdict(compared(GOOD, GOOD, GOOD)).text
