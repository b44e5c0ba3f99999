"""Scores in another order than their classes are told by the predictions, and only those are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.inputs.scores import Scores, score_notes
from offdiag.metrics.multilabel.sets import pack_sets

TWO = LabelSet.declared(["no", "yes"])
MOVED = "seem to be in another order"


def notes(values: NDArray[np.floating], predicted: NDArray[np.integer]) -> tuple[str, ...]:
    labels = LabelSet.numbered(values.shape[1])
    return score_notes(Scores(values.astype(np.float32)), predicted.astype("u1"), labels, None)


def notes_on_one(
    score: list[float], predicted: list[int], positive: str = "yes", field: str = "y_pred"
) -> str:
    scores = Scores(np.array(score, dtype=np.float32)[:, np.newaxis])
    codes = np.array(predicted, dtype="u1")
    return " ".join(score_notes(scores, codes, TWO, positive, field=field))


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


def test_scores_are_held_against_the_actual_classes_where_they_make_the_predictions() -> None:
    score, actual = [0.9, 0.8, 0.7, 0.2, 0.1] * 10, [0, 0, 0, 1, 1] * 10

    assert "lower where y_true is 'yes' than" in notes_on_one(score, actual, field="y_true")
    assert notes_on_one([1 - each for each in score], actual, field="y_true") == ""
    assert notes_on_one([0.9, 0.6, 0.95, 0.8] * 5, [1, 0, 1, 1] * 5, field="y_true") == ""


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
