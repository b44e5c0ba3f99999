"""Confident learning as cleanlab computes it, and errors planted in real labels."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.demo.experiments import digits
from offdiag.metrics.label_errors.suspects import Votes, confident_labels, margins, rank_labels

World = tuple[NDArray[Any], NDArray[Any]]

PLANTED, BUDGET = 0.02, 0.05


def test_planted_errors_of_the_digits_of_the_demo_are_found_first() -> None:
    experiment = digits(42)
    labels = experiment.target[experiment.test]
    families = []
    for trial in experiment.trials:
        if trial.name in {"logistic regression", "random forest", "25 nearest neighbours"}:
            trial.model.fit(experiment.data[experiment.train], experiment.target[experiment.train])
            table = trial.model.predict_proba(experiment.data[experiment.test])
            families.append(Votes(table.argmax(axis=1), table))
    random = np.random.default_rng(0)
    places = random.choice(len(labels), round(PLANTED * len(labels)), replace=False)
    noisy = labels.copy()
    noisy[places] = (noisy[places] + random.integers(1, 10, len(places))) % 10

    found = rank_labels(noisy, families, n_classes=10)

    assert len(families) == 3
    first = found.order[: round(BUDGET * len(labels))]
    assert np.isin(places, first).mean() >= 0.8


@pytest.fixture
def count() -> Any:
    return import_module("cleanlab.count")


@pytest.fixture
def rank() -> Any:
    return import_module("cleanlab.rank")


@pytest.fixture(params=range(3))
def world(request: pytest.FixtureRequest) -> World:
    """Labels with errors, and probabilities that mostly know better."""
    random = np.random.default_rng(request.param)
    n_classes = 2 + 3 * request.param
    true = random.integers(0, n_classes, 2_000)
    table = np.exp(random.normal(size=(2_000, n_classes)) + 3 * np.eye(n_classes)[true])
    noisy = np.where(random.random(2_000) < 0.1, random.integers(0, n_classes, 2_000), true)
    return noisy, table / table.sum(axis=1, keepdims=True)


def test_the_confident_joint_is_the_same(world: World, count: Any) -> None:
    labels, table = world
    expected = count.compute_confident_joint(labels, table, calibrate=False)
    assert confident_labels(labels, table).joint.tolist() == expected.tolist()


def test_the_estimated_noise_is_the_same(world: World, count: Any) -> None:
    labels, table = world
    joint = count.compute_confident_joint(labels, table, calibrate=False)
    expected = count.estimate_joint(labels, table, confident_joint=joint)
    found = confident_labels(labels, table).noise(np.bincount(labels))
    # cleanlab rounds its calibrated counts to whole numbers.
    assert found == pytest.approx(expected, abs=1 / 2_000)


def test_the_margin_ranks_as_the_normalised_margin(world: World, rank: Any) -> None:
    labels, table = world
    expected = rank.get_normalized_margin_for_each_label(labels, table)
    assert -margins(labels, table)[0] == pytest.approx(2 * expected - 1)
