"""When scores count as probabilities, and how one column speaks for two classes."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.scores import forecasts as module
from offdiag.metrics.scores.forecasts import Forecasts, rank_counts, top_k_accuracy
from offdiag.metrics.scores.ranking import rank_scores
from support.forecasts import of_classes, of_event, ranked


@pytest.mark.parametrize("scores", [[0.0, 1.0], [0.5, 0.5]])
def test_scores_within_zero_and_one_are_probabilities(scores: list[float]) -> None:
    assert of_event([0, 1], scores).are_probabilities


@pytest.mark.parametrize("scores", [[-0.1, 0.5], [0.5, 1.0000001]])
def test_scores_outside_are_not(scores: list[float]) -> None:
    assert not of_event([0, 1], scores).are_probabilities


def test_rows_have_to_sum_to_one() -> None:
    assert of_classes([0, 1], [[0.2, 0.8], [1.0, 0.0]]).are_probabilities
    assert of_classes([0], [[0.2, 0.8 + 5e-7]]).are_probabilities
    assert not of_classes([0], [[0.2, 0.79999]]).are_probabilities
    assert not of_classes([0], [[0.3, 0.3]]).are_probabilities


def test_rows_normalised_in_single_precision_are_probabilities() -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(0, 4, (300, 1000)).astype(np.float32)
    exponentials = np.exp(logits)
    table = exponentials / exponentials.sum(axis=1, keepdims=True)

    scores = Forecasts(np.zeros(300, np.uint8), table, n_classes=1000)

    assert scores.are_probabilities


@pytest.mark.parametrize(("positive", "expected"), [(1, [0.75, 0.25]), (0, [0.25, 0.75])])
def test_the_other_class_gets_the_complement(positive: int, expected: list[float]) -> None:
    scores = Forecasts(np.array([0]), np.array([[0.25]]), n_classes=2, positive=positive)

    assert scores.table.tolist() == [expected]


def test_the_order_for_the_class_without_a_column_is_reversed() -> None:
    scores = of_event([0, 1, 1], [3.0, -2.0, 7.0])

    assert scores.of_class(1).tolist() == [3.0, -2.0, 7.0]
    assert np.argsort(scores.of_class(0)).tolist() == [2, 0, 1]


def test_the_probability_of_the_actual_class_is_picked() -> None:
    assert of_classes([2, 0], [[0.1, 0.2, 0.7], [0.6, 0.4, 0.0]]).of_actual().tolist() == [
        0.7,
        0.6,
    ]


def test_blocks_cover_every_case_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 7)
    scores = of_classes([0, 1, 2, 1, 0], [[i, 0, 0] for i in range(5)])

    blocks = list(scores.blocks())

    assert [len(actual) for actual, _ in blocks] == [2, 2, 1]
    assert [row[0] for _, table in blocks for row in table.tolist()] == [0, 1, 2, 3, 4]


def test_places_are_counted_from_the_highest_score() -> None:
    scores = of_classes([0, 1, 2], [[0.6, 0.3, 0.1]] * 3)

    counts = rank_counts(scores)

    assert counts.tolist() == [1, 1, 1]
    assert [top_k_accuracy(counts, k=k).value for k in (1, 2, 3)] == [1 / 3, 2 / 3, 1]


def test_ties_go_to_the_lowest_class() -> None:
    counts = rank_counts(of_classes([0, 1, 2, 3], [[0.25] * 4] * 4))

    assert counts.tolist() == [1, 1, 1, 1]
    assert top_k_accuracy(counts, k=1).value == 0.25


def test_top_one_is_the_accuracy_of_the_arg_max() -> None:
    generator = np.random.default_rng(2)
    table = generator.integers(0, 3, (300, 5)) / 2
    actual = generator.integers(0, 5, 300)

    counts = rank_counts(of_classes(actual.tolist(), table.tolist()))

    accuracy = np.mean(table.argmax(axis=1) == actual)
    assert top_k_accuracy(counts, k=1).value == accuracy


def test_scores_need_not_be_probabilities() -> None:
    assert rank_counts(of_classes([1], [[-5.0, 12.0]])).tolist() == [1, 0]


def test_an_only_column_decides_at_one_half() -> None:
    # A probability of exactly one half is a tie, which the class with the lower index wins.
    assert rank_counts(of_event([1, 1, 0], [0.5, 0.51, 0.5])).tolist() == [2, 1]


def test_counts_at_each_distinct_score() -> None:
    scores = ranked([0, 1, 1, 0, 1], [0.2, 0.5, 0.5, 0.5, 0.9])

    assert scores.values.tolist() == [0.2, 0.5, 0.9]
    assert scores.samples_below.tolist() == [0, 1, 4, 5]
    assert scores.positives_below.tolist() == [0, 0, 2, 3]
    assert scores.negatives_below.tolist() == [0, 1, 2, 2]


def test_thresholds_descend_from_one_above_the_largest_score() -> None:
    scores = ranked([0, 1, 1], [0.2, 0.5, 1.0])

    assert scores.thresholds.tolist() == [np.nextafter(1.0, 2.0), 1.0, 0.5, 0.2]
    assert scores.true_positives.tolist() == [0, 1, 2, 2]
    assert scores.false_positives.tolist() == [0, 0, 0, 1]


def test_negative_and_positive_zero_are_one_score() -> None:
    assert len(ranked([0, 1], [-0.0, 0.0]).values) == 1


def test_scores_tie_in_the_precision_they_came_in() -> None:
    close = np.array([0.1, 0.1 + 1e-12])
    is_positive = np.array([False, True])

    in_double = rank_scores(is_positive, close)
    in_single = rank_scores(is_positive, close.astype(np.float32))

    assert in_double.sums.doubled_wins == 2
    assert in_single.sums.doubled_wins == 1


def test_wins_do_not_depend_on_which_group_is_larger() -> None:
    few = ranked([1, 0, 0, 0], [0.5, 0.1, 0.5, 0.9])
    many = ranked([1, 1, 1, 0], [0.1, 0.5, 0.9, 0.5])

    assert few.sums.doubled_wins == 3
    assert many.sums.doubled_wins == 3
