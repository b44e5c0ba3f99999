"""Confident learning as cleanlab computes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.label_errors.confident import confident_labels, margins

World = tuple[NDArray[Any], NDArray[Any]]

count = pytest.importorskip("cleanlab.count", reason="cleanlab is not installed")
rank = pytest.importorskip("cleanlab.rank", reason="cleanlab is not installed")


@pytest.fixture(params=range(3))
def world(request: pytest.FixtureRequest) -> World:
    """Labels with errors, and probabilities that mostly know better."""
    random = np.random.default_rng(request.param)
    n_classes = 2 + 3 * request.param
    true = random.integers(0, n_classes, 2_000)
    table = np.exp(random.normal(size=(2_000, n_classes)) + 3 * np.eye(n_classes)[true])
    noisy = np.where(random.random(2_000) < 0.1, random.integers(0, n_classes, 2_000), true)
    return noisy, table / table.sum(axis=1, keepdims=True)


def test_the_confident_joint_is_the_same(world: World) -> None:
    labels, table = world
    expected = count.compute_confident_joint(labels, table, calibrate=False)
    assert confident_labels(labels, table).joint.tolist() == expected.tolist()


def test_the_estimated_noise_is_the_same(world: World) -> None:
    labels, table = world
    joint = count.compute_confident_joint(labels, table, calibrate=False)
    expected = count.estimate_joint(labels, table, confident_joint=joint)
    found = confident_labels(labels, table).noise(np.bincount(labels))
    # cleanlab rounds its calibrated counts to whole numbers.
    assert found == pytest.approx(expected, abs=1 / 2_000)


def test_the_margin_ranks_as_the_normalised_margin(world: World) -> None:
    labels, table = world
    expected = rank.get_normalized_margin_for_each_label(labels, table)
    assert -margins(labels, table)[0] == pytest.approx(2 * expected - 1)
