"""DeLong's test: undefined cases and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.scores import ScoreDifference, delong, score_differences
from offdiag.metrics.scores.forecasts import Forecasts
from support.forecasts import of_classes, of_event
from support.optional import present

TRUTH = [1, 1, 1, 0, 0, 0, 0, 1]
SCORE = [0.9, 0.8, 0.3, 0.4, 0.2, 0.6, 0.1, 0.7]
OTHER = [0.2, 0.9, 0.6, 0.5, 0.3, 0.1, 0.4, 0.8]


def test_scores_that_rank_alike_have_no_variance_and_no_p() -> None:
    found = delong(TRUTH, SCORE, np.exp(SCORE))

    assert found.auc_a == found.auc_b
    assert found.difference == 0.0
    assert (found.z, found.p) == (None, None)
    assert found.reason == "zero_variance"
    assert found.interval() == (None, None)


def test_exchanging_the_scores_turns_the_sign_only() -> None:
    forward, backward = delong(TRUTH, SCORE, OTHER), delong(TRUTH, OTHER, SCORE)

    assert present(forward.z) == pytest.approx(-(backward.z or 0))
    assert forward.p == pytest.approx(backward.p)
    assert (forward.auc_a, forward.auc_b) == (backward.auc_b, backward.auc_a)


def test_the_interval_of_the_difference_excludes_zero_where_p_is_small() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(400) < 0.4
    good, poor = rng.normal(size=400) + 2 * truth, rng.normal(size=400) + 0.2 * truth

    found = delong(truth, poor, good)

    low, high = found.interval()
    assert present(found.p) < 0.001
    assert 0 < present(low) < (found.difference or 0) < present(high) <= 1


@pytest.mark.parametrize(
    ("truth", "reason"),
    [([1, 1, 1], "no_actual_negatives"), ([0, 0, 0], "no_actual_positives")],
)
def test_one_class_alone_has_no_area(truth: list[int], reason: str) -> None:
    found = delong(truth, [1, 2, 3], [3, 2, 1])

    assert (found.auc_a, found.auc_b, found.z, found.p) == (None,) * 4
    assert found.reason == reason


def test_no_cases_have_no_area() -> None:
    assert delong([], [], []).reason == "no_cases"


def test_a_single_case_of_a_class_has_areas_but_no_test() -> None:
    found = delong([1, 0, 0], [3, 2, 1], [1, 2, 3])

    assert (found.auc_a, found.auc_b) == (1.0, 0.0)
    assert (found.standard_error, found.z, found.p) == (None, None, None)
    assert found.reason == "zero_over_zero"


@pytest.mark.parametrize(
    ("truth", "first", "second", "field"),
    [
        ([0, 1, 2], [1, 2, 3], [1, 2, 3], "y_true"),
        (["a", "b"], [1, 2], [1, 2], "y_true"),
        ([0, 1], [1, 2, 3], [1, 2], "score_a"),
        ([0, 1], [1, 2], [1], "score_b"),
        ([0, 1], [1, float("nan")], [1, 2], "score_a"),
        ([0, 1], [1, 2], [1, float("inf")], "score_b"),
    ],
)
def test_unusable_arrays_are_refused(truth: Any, first: Any, second: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        delong(truth, first, second)

    assert caught.value.field == field


ACTUAL = [0, 1, 1, 0, 1, 0, 0, 1]
SHARP = [0.1, 0.9, 0.8, 0.2, 0.7, 0.3, 0.6, 0.4]
BLUNT = [0.4, 0.6, 0.3, 0.5, 0.7, 0.2, 0.6, 0.5]


def by_key(first: Forecasts, second: Forecasts) -> dict[str, ScoreDifference]:
    return {each.key: each for each in score_differences(first, second)}


def three_classes(*, sharpness: float, seed: int, n_samples: int = 300) -> Forecasts:
    rng = np.random.default_rng(seed)
    actual = np.random.default_rng(0).integers(0, 3, n_samples)
    logits = rng.normal(size=(n_samples, 3))
    logits[np.arange(n_samples), actual] += sharpness
    table = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Forecasts(actual, table, n_classes=3)


def test_a_positive_class_is_compared_by_delongs_variance_with_students_t() -> None:
    found = by_key(of_event(ACTUAL, BLUNT), of_event(ACTUAL, SHARP))["roc_auc"]

    is_positive = np.array(ACTUAL) == 1
    beats = [
        np.sign(np.subtract.outer(np.array(each)[is_positive], np.array(each)[~is_positive]))
        for each in (BLUNT, SHARP)
    ]
    moved = (beats[1] - beats[0]) / 2
    parts = [float(np.var(moved.mean(axis=axis), ddof=1)) / 4 for axis in (0, 1)]
    error, freedom = np.sqrt(sum(parts)), sum(parts) ** 2 / sum(part**2 / 3 for part in parts)
    assert error == pytest.approx(delong(ACTUAL, BLUNT, SHARP).standard_error)
    assert found.difference.value == pytest.approx(moved.mean())
    assert found.p == pytest.approx(2 * student.sf(moved.mean() / error, freedom))
    reach = student.ppf(0.975, freedom) * error
    assert found.difference.ci_low == pytest.approx(moved.mean() - reach)


@pytest.mark.parametrize(("n_positive", "n_samples"), [(3, 100), (5, 300)])
def test_few_positive_samples_do_not_call_equally_good_scores_different(
    n_positive: int, n_samples: int
) -> None:
    """With the normal quantile these were called different in 10 and 8 % of data sets."""
    rng, n_sets, claims = np.random.default_rng(4), 300, 0
    actual = [1] * n_positive + [0] * (n_samples - n_positive)
    for _ in range(n_sets):
        shared, *own = 0.6 * rng.standard_normal((3, n_samples))
        first, second = (
            (1 / (1 + np.exp(-(np.array(actual) + shared + each)))).tolist() for each in own
        )
        p = by_key(of_event(actual, first), of_event(actual, second))["roc_auc"].p
        claims += p is not None and p < 0.05
    assert claims / n_sets <= 0.06


def test_two_positive_samples_are_too_few_to_compare_areas() -> None:
    actual = [1, 1, 0, 0, 0, 0]
    first, second = [0.9, 0.8, 0.3, 0.1, 0.2, 0.4], [0.2, 0.3, 0.9, 0.8, 0.1, 0.4]

    found = by_key(of_event(actual, first), of_event(actual, second))["roc_auc"]

    assert found.difference.value == pytest.approx(-0.75)
    assert found.simultaneous is None
    assert found.p is None


def test_several_classes_are_compared_by_their_averaged_area() -> None:
    before, after = three_classes(sharpness=0.8, seed=1), three_classes(sharpness=1.6, seed=2)

    found = by_key(before, after)["roc_auc_ovr_macro"]

    assert found.difference.value == present(found.second.value) - present(found.first.value)
    assert present(found.difference.ci_low) > 0
    assert present(found.p) < 0.001


def test_losses_are_compared_case_by_case() -> None:
    found = by_key(of_event(ACTUAL, BLUNT), of_event(ACTUAL, SHARP))["log_loss"]

    given = [
        -np.log([p if hit else 1 - p for hit, p in zip(ACTUAL, scores, strict=True)])
        for scores in (BLUNT, SHARP)
    ]
    moves = given[1] - given[0]
    assert found.difference.value == pytest.approx(moves.mean())
    assert found.difference.ci_method == "student t; unreliable, n = 8"


def test_swapping_the_runs_changes_signs_only() -> None:
    before, after = three_classes(sharpness=0.8, seed=1), three_classes(sharpness=1.6, seed=2)

    there, back = by_key(before, after), by_key(after, before)

    assert there.keys() == back.keys()
    for key, each in there.items():
        assert back[key].difference.value == -(each.difference.value or 0), key
        assert back[key].difference.ci_low == pytest.approx(-(each.difference.ci_high or 0)), key
        assert back[key].p == pytest.approx(each.p), key


@pytest.mark.parametrize("sharpness", [0.5, 2.0])
def test_equal_scores_have_a_difference_of_zero_and_no_interval(sharpness: float) -> None:
    same = three_classes(sharpness=sharpness, seed=3)

    for each in score_differences(same, same):
        assert each.difference.value == 0, each.key
        assert (each.difference.ci_low, each.difference.ci_high) == (None, None), each.key
        assert each.p is None, each.key


def test_an_infinite_loss_has_no_difference() -> None:
    sure = of_event([0, 1, 1], [0.2, 0.0, 0.9])
    careful = of_event([0, 1, 1], [0.2, 0.4, 0.9])

    found = by_key(sure, careful)["log_loss"]

    assert found.difference.value is None
    assert found.difference.reason == "true_class_got_zero"
    assert found.second.value is not None


def test_scores_that_are_no_probabilities_are_ranked_only() -> None:
    found = by_key(of_event(ACTUAL, SHARP), of_event(ACTUAL, [10 * score for score in SHARP]))

    assert set(found) == {"roc_auc"}


def test_an_absent_class_leaves_the_averaged_area_undefined() -> None:
    table = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]
    found = by_key(of_classes([0, 1], table), of_classes([0, 1], table))

    assert found["roc_auc_ovr_macro"].difference.reason == "class_value_undefined"


def test_a_class_of_a_single_case_has_no_interval() -> None:
    table = [[0.5, 0.5], [0.2, 0.8], [0.6, 0.4]]
    found = by_key(of_classes([0, 1, 1], table), of_classes([0, 1, 1], [[0.4, 0.6]] * 3))

    assert found["roc_auc_ovr_macro"].difference.value is not None
    assert found["roc_auc_ovr_macro"].difference.ci_low is None


def test_a_class_without_cases_leaves_the_area_of_one_score_undefined() -> None:
    found = by_key(of_event([0, 0], [0.1, 0.2]), of_event([0, 0], [0.2, 0.2]))

    assert found["roc_auc"].difference.reason == "no_actual_positives"


def test_without_cases_nothing_is_compared() -> None:
    empty = of_classes([0], [[0.5, 0.5]])
    nothing = Forecasts(empty.actual[:0], empty.scores[:0], n_classes=2)

    assert score_differences(nothing, nothing) == ()
