"""Scores in another order than their classes are told by the predictions, and only those are."""

from __future__ import annotations

import math
from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import rankdata

from offdiag.domain.labels import LabelSet
from offdiag.inputs import score_notes as score_notes_module
from offdiag.inputs.score_notes import _are_below_chance, score_notes, sum_notes, truth_notes
from offdiag.inputs.scores import Scores
from offdiag.metrics.multilabel.sets import pack_sets
from offdiag.metrics.scores.forecasts import Forecasts

TWO = LabelSet.declared(["no", "yes"])
MOVED = "seem to be in another order"


def notes(values: NDArray[np.floating], predicted: NDArray[np.integer]) -> tuple[str, ...]:
    labels = LabelSet.numbered(values.shape[1])
    return score_notes(Scores(values.astype(np.float32)), predicted.astype("u1"), labels, None)


def notes_on_one(score: list[float], predicted: list[int], positive: str = "yes") -> str:
    values = np.array(score, dtype=np.float32)[:, np.newaxis]
    return " ".join(score_notes(Scores(values), np.array(predicted, dtype="u1"), TWO, positive))


@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_every_order_but_that_of_the_labels_is_noted(n_classes: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    values = draw.dirichlet(np.ones(n_classes), size=60 * n_classes)
    predicted = values.argmax(axis=1)
    order = draw.permutation(n_classes)

    found = notes(values[:, order], predicted)

    frequent = np.bincount(predicted, minlength=n_classes) >= 5
    assert frequent.all()
    assert bool(found) == bool((order != np.arange(n_classes)).any())
    assert notes(values, predicted) == ()


def test_the_note_names_the_classes_and_the_way_out() -> None:
    labels = LabelSet.declared(["10", "2"])
    values = np.tile([[0.9, 0.1], [0.2, 0.8]], (20, 1)).astype(np.float32)

    (note,) = score_notes(Scores(values), np.tile([1, 0], 20), labels, None)

    assert MOVED in note
    assert "where y_pred is '10', the highest score is that of '2'" in note
    assert "{class: scores}" in note


def test_two_exchanged_classes_among_many_are_noted_however_rare() -> None:
    draw = np.random.default_rng(5)
    predicted = np.concatenate([np.repeat(np.arange(8), 400), [8] * 6, [9] * 6])
    values = draw.random((len(predicted), 10)) * 0.1
    values[np.arange(len(predicted)), np.where(predicted >= 8, 17 - predicted, predicted)] = 1

    (note,) = notes(values, predicted)

    assert "'8'" in note
    assert note.count("where y_pred is") == 2


def test_a_decision_that_prefers_a_class_is_no_exchange() -> None:
    """A costly class is predicted from a tenth on, so another one has nearly always more."""
    draw = np.random.default_rng(3)
    values = draw.dirichlet([6, 1, 3], size=500)
    predicted = np.where(values[:, 1] > 0.1, 1, values.argmax(axis=1))

    assert notes(values, predicted) == ()


@pytest.mark.parametrize("n_predictions", [4, 5])
def test_a_handful_of_predictions_says_nothing(n_predictions: int) -> None:
    values = np.repeat([[0.9, 0.1], [0.1, 0.9]], n_predictions, axis=0)

    assert bool(notes(values, np.repeat([1, 0], n_predictions))) == (n_predictions >= 5)


def test_one_score_is_noted_where_it_is_that_of_the_other_class() -> None:
    score, predicted = [0.9, 0.8, 0.7, 0.2, 0.1] * 10, [0, 0, 0, 1, 1] * 10

    assert "seems to be the score of 'no'" in notes_on_one(score, predicted)
    assert notes_on_one(score, predicted, positive="no") == ""
    assert notes_on_one([-value for value in score], predicted) == ""


def test_one_score_is_noted_where_it_is_a_confidence() -> None:
    confidence, predicted = [0.9, 0.6, 0.95, 0.8, 1.0] * 4, [0, 1, 1, 0, 0] * 4

    assert "confidence in the predicted class" in notes_on_one(confidence, predicted)
    assert notes_on_one(confidence, [1] * 20) == ""
    assert notes_on_one([0.4, *confidence], [0, *predicted]) == ""


def guesses(
    draw: np.random.Generator, actual: NDArray[np.integer], n_classes: int
) -> NDArray[np.float64]:
    """Scores of a model that is right for three of four examples of six classes."""
    of_actual: NDArray[np.float64] = np.eye(n_classes)[actual]
    return draw.random((len(actual), n_classes)) + 0.6 * of_actual


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_every_order_but_that_of_the_labels_is_noted_by_the_truth(k: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    actual = draw.integers(0, k, 150 * k, dtype="u2")
    values, labels = guesses(draw, actual, k).astype(np.float32), LabelSet.numbered(k)
    order = draw.permutation(k)

    found = truth_notes(Scores(values[:, order]), actual, labels, None)

    assert bool(found) == bool((order != np.arange(k)).any())
    assert truth_notes(Scores(values), actual, labels, None) == ()


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_another_order_of_the_scores_of_a_weak_model_is_noted_by_the_truth(
    k: int, seed: int
) -> None:
    """Few of its highest scores are those of the class, but they are lower elsewhere."""
    draw = np.random.default_rng(seed)
    actual = draw.integers(0, k, 1_000 * k, dtype="u2")
    values = draw.dirichlet(np.ones(k), len(actual)) + 0.15 * np.eye(k)[actual]
    values = (values / values.sum(axis=1, keepdims=True)).astype(np.float32)
    labels = LabelSet.numbered(k)
    moved = Scores(np.roll(values, 1, axis=1))

    (note,) = truth_notes(moved, actual, labels, None)

    assert MOVED in note
    assert truth_notes(Scores(values), actual, labels, None) == ()


@given(st.lists(st.integers(0, 2), min_size=4, max_size=7), st.integers(0, 2**32 - 1))
def test_ranks_of_the_actual_classes_are_compared_with_all_orders_of_samples(
    actual: list[int], seed: int
) -> None:
    """The error is that over all orders, which are few enough to be listed."""
    values = np.random.default_rng(seed).integers(0, 4, (len(actual), 3))
    ranks = rankdata(values, axis=0) - (len(actual) + 1) / 2
    sums = [sum(ranks[row, code] for row, code in enumerate(p)) for p in permutations(actual)]
    own = sum(ranks[row, code] for row, code in enumerate(actual))

    with patch.object(score_notes_module, "_BY_CHANCE", 1.0):
        found = _are_below_chance(values.astype(np.float32), np.array(actual))

    assert found == (own < -np.std(sums)) or math.isclose(own, -np.std(sums))


@given(st.integers(2, 300), st.integers(0, 2**32 - 1))
def test_a_model_that_guesses_exchanges_no_classes(n_classes: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    values = draw.random((1_000, n_classes)).astype(np.float32)
    actual = draw.integers(0, n_classes, 1_000, dtype="u2")

    assert truth_notes(Scores(values), actual, LabelSet.numbered(n_classes), None) == ()


@pytest.mark.parametrize("n_classes", [3, 8])
def test_scores_that_are_lowest_for_what_is_likely_are_noted(n_classes: int) -> None:
    draw = np.random.default_rng(11)
    losses = -np.log(draw.dirichlet(np.full(n_classes, 0.3), size=200))
    predicted = losses.argmin(axis=1)
    actual = np.where(draw.random(200) < 0.9, predicted, 0).astype("u2")
    labels = LabelSet.numbered(n_classes)

    (note,) = notes(losses, predicted)
    assert note.startswith("Where y_pred is a class, y_score is mostly lowest for it")
    assert "give -y_score" in note
    (note,) = truth_notes(Scores(losses.astype(np.float32)), actual, labels, None)
    assert note.startswith("Where y_true is a class, y_score is mostly lowest for it")

    assert notes(-losses, predicted) == ()
    assert truth_notes(Scores(-losses.astype(np.float32)), actual, labels, None) == ()
    assert notes(losses[:4], predicted[:4]) == ()  # It may be chance.


def test_one_score_is_noted_where_the_truth_is_the_other_way_round() -> None:
    draw = np.random.default_rng(7)
    actual = draw.integers(0, 2, 200, dtype="u2")
    score = guesses(draw, actual, 2)[:, :1].astype(np.float32)  # That of "no".

    (note,) = truth_notes(Scores(score), actual, TWO, "yes")

    assert "lower where y_true is 'yes'" in note
    assert "the score of 'no'" in note
    assert truth_notes(Scores(score), actual, TWO, "no") == ()
    assert truth_notes(Scores(score[:8]), actual[:8], TWO, "yes") == ()  # It may be chance.
    assert truth_notes(Scores(score), np.zeros(200, dtype="u2"), TWO, "yes") == ()


def test_large_runs_are_looked_at_all_over() -> None:
    """Sorted by class, their first samples say nothing."""
    predicted = np.repeat([0, 1, 2], 60_000)
    values = np.eye(3)[2 - predicted]

    assert MOVED in notes(values, predicted)[0]


@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_every_order_but_that_of_the_labels_of_sets_is_noted(n_labels: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    labels = LabelSet.numbered(n_labels)
    values = draw.random((400, n_labels)).astype(np.float32)
    predicted = pack_sets(values > draw.uniform(0.3, 0.9, n_labels))
    order = draw.permutation(n_labels)

    found = score_notes(Scores(values[:, order]), predicted, labels, None)

    assert bool(found) == bool((order != np.arange(n_labels)).any())
    assert score_notes(Scores(values), predicted, labels, None) == ()


def test_the_note_on_sets_names_the_labels_and_the_way_out() -> None:
    labels = LabelSet.declared(["sea", "sky"])
    values = np.tile([[0.9, 0.1], [0.2, 0.8], [0.1, 0.3]], (20, 1)).astype(np.float32)

    (note,) = score_notes(Scores(values), pack_sets(values[:, ::-1] > 0.5), labels, None)

    assert MOVED in note
    assert "'sea' is predicted where the scores of 'sky' are highest" in note
    assert "{class: scores}" in note


def test_labels_that_come_together_or_are_decided_otherwise_are_not_exchanged() -> None:
    labels = LabelSet.declared(["sea", "beach", "night"])
    score = np.linspace(0, 1, 100, dtype=np.float32)
    together = np.stack([score, np.sqrt(score), score[::-1]], axis=1)
    likeliest = together.argmax(axis=1)[:, np.newaxis] == np.arange(3)

    assert score_notes(Scores(together), pack_sets(together > 0.5), labels, None) == ()
    assert score_notes(Scores(together), pack_sets(likeliest), labels, None) == ()


@given(st.integers(12, 60), st.integers(0, 2**32 - 1))
def test_few_sets_that_follow_no_score_exchange_no_labels(n_samples: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    labels = LabelSet.numbered(200)
    values = draw.random((n_samples, 200)).astype(np.float32)
    predicted = pack_sets(draw.random((n_samples, 200)) < 0.5)

    assert score_notes(Scores(values), predicted, labels, None) == ()


@pytest.mark.parametrize("precision", [np.float16, "bfloat16"])
def test_probabilities_in_half_precision_are_noted(precision: type | str) -> None:
    exact = np.random.default_rng(3).dirichlet(np.ones(5), size=200).astype(np.float32)
    # A bfloat16 is the upper half of a float32.
    half = (
        (exact.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        if precision == "bfloat16"
        else exact.astype(precision).astype(np.float32)
    )
    assert not Forecasts(np.zeros(200, "u1"), half, n_classes=5).are_probabilities

    (note,) = sum_notes(half)

    assert "log loss, Brier score and calibration will be undefined" in note
    assert "logits.float().softmax(-1)" in note
    repaired = half / half.sum(axis=1, keepdims=True)
    assert Forecasts(np.zeros(200, "u1"), repaired, n_classes=5).are_probabilities
    assert sum_notes(repaired) == ()


def test_scores_that_are_or_cannot_be_probabilities_are_not_noted() -> None:
    draw = np.random.default_rng(4)
    probabilities = draw.dirichlet(np.ones(4), size=100)
    one_vs_rest = draw.random((100, 4))

    assert sum_notes(probabilities) == sum_notes(probabilities.astype(np.float32)) == ()
    assert sum_notes(one_vs_rest) == sum_notes(np.log(probabilities)) == ()
    assert sum_notes(probabilities[:, :1]) == sum_notes(probabilities[:0]) == ()
    assert sum_notes(np.append(probabilities.round(2), [[0.3, 0.3, 0, 0]], axis=0)) == ()
