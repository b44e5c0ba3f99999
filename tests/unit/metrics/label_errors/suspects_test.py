"""Wrong labels rank first, one vote for each family, and planted errors tell how well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.metrics.label_errors.suspects import (
    Votes,
    confident_labels,
    margins,
    plant_errors,
    rank_labels,
)

# Labels 0, 0, 0, 1, 1 with probabilities of class 1: the third is confidently 1.
LABELS = np.array([0, 0, 0, 1, 1])
OF_ONE = np.array([0.1, 0.2, 0.9, 0.8, 0.6])
TABLE = np.stack([1 - OF_ONE, OF_ONE], axis=1)


def test_the_confident_joint_is_that_of_the_paper() -> None:
    found = confident_labels(LABELS, TABLE)

    # Thresholds: mean of 0.9, 0.8, 0.1 and of 0.8, 0.6.
    assert found.thresholds.tolist() == pytest.approx([0.6, 0.7])
    assert found.confident.tolist() == [0, 0, 1, 1, -1]
    assert found.joint.tolist() == [[2, 1], [0, 1]]
    assert found.noise(np.array([3, 2])) == pytest.approx(np.array([[0.4, 0.2], [0.0, 0.4]]))


def test_a_class_without_labels_is_never_confident() -> None:
    found = confident_labels(np.zeros(4, int), np.full((4, 2), 0.5))
    assert np.isnan(found.thresholds[1])
    assert found.confident.tolist() == [0, 0, 0, 0]


def test_margins_are_those_of_the_best_other_class() -> None:
    score, suggested = margins(np.array([0, 2]), np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]))
    assert score.tolist() == pytest.approx([0.3, -0.7])
    assert suggested.tolist() == [1, 0]


def test_the_contradicted_label_comes_first() -> None:
    found = rank_labels(LABELS, [Votes(TABLE.argmax(axis=1), TABLE)], n_classes=2)

    assert found.order[:2].tolist() == [2, 4]
    assert found.is_suspect.tolist() == [False, False, True, False, False]
    assert found.is_confident.tolist() == [False, False, True, False, False]
    assert (found.suggested[2], found.against[2]) == (1, 1)


def test_families_without_probabilities_vote_with_their_classes() -> None:
    votes = [Votes(np.array(each)) for each in ([0, 1, 1], [0, 1, 0], [0, 0, 1])]

    found = rank_labels(np.array([0, 1, 0]), votes, n_classes=2)

    assert found.score.tolist() == pytest.approx([-1, -1 / 3, 1 / 3])
    assert found.against.tolist() == [0, 1, 2]
    assert found.order[0] == 2


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 4))
def test_the_names_of_classes_do_not_matter(seed: int, n_classes: int, n_families: int) -> None:
    random = np.random.default_rng(seed)
    labels = random.integers(0, n_classes, 60)
    tables = [random.dirichlet(np.ones(n_classes), 60) for _ in range(n_families)]
    renamed = random.permutation(n_classes)

    first = rank_labels(labels, [Votes(t.argmax(1), t) for t in tables], n_classes=n_classes)
    moved = [t[:, np.argsort(renamed)] for t in tables]
    second = rank_labels(
        renamed[labels], [Votes(t.argmax(1), t) for t in moved], n_classes=n_classes
    )

    assert second.score == pytest.approx(first.score, abs=1e-6)
    assert second.against.tolist() == first.against.tolist()
    assert (renamed[first.suggested] == second.suggested).mean() > 0.95  # Ties aside.


def world(n: int, certainty: float) -> tuple[NDArray[Any], NDArray[Any]]:
    random = np.random.default_rng(3)
    labels = random.integers(0, 5, n)
    logits = random.normal(size=(n, 5)) + certainty * np.eye(5)[labels]
    table = np.exp(logits)
    return labels, table / table.sum(axis=1, keepdims=True)


def test_planted_errors_are_found_as_well_as_the_models_are_good() -> None:
    good, poor = (plant_errors(*world(4_000, certainty)) for certainty in (9.0, 0.0))

    assert good is not None
    assert poor is not None
    assert (good.n_planted, good.budget) == (80, 200)
    assert good.found > 0.97
    assert good.precision == pytest.approx(good.found * 80 / 200)
    assert good.precision_low <= good.precision <= good.precision_high
    assert poor.found < 0.15  # Models that know nothing find 5 % of them in 5 %.


def test_the_interval_holds_the_share_found_of_errors_planted_anew() -> None:
    labels, table = world(4_000, 3.0)
    told = plant_errors(labels, table)
    assert told is not None
    random = np.random.default_rng(99)
    held = 0
    for _ in range(100):
        places = random.choice(4_000, 80, replace=False)
        noisy = labels.copy()
        noisy[places] = (noisy[places] + random.integers(1, 5, 80)) % 5
        first = rank_labels(noisy, [Votes(table.argmax(1), table)], n_classes=5)
        by_score = np.argsort(-first.score)[:200]
        held += told.found_low <= float(np.isin(places, by_score).mean()) <= told.found_high
    assert held >= 85  # 95 of 100 within sampling error of both sides.


def test_too_few_labels_plant_nothing() -> None:
    assert plant_errors(*world(200, 3.0)) is None
