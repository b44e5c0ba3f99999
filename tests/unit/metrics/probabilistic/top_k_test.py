"""The place of the actual class among the scores of a case."""

from __future__ import annotations

import numpy as np

from offdiag.metrics.probabilistic.top_k import rank_counts, top_k_accuracy
from support.forecasts import of_classes, of_event


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
