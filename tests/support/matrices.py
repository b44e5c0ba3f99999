"""Confusion matrices and pairs of runs for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals import suite
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts


def numbered_labels(n_classes: int, *, ordinal: bool = False) -> LabelSet:
    return LabelSet(tuple(str(code) for code in range(n_classes)), ordinal=ordinal)


def matrix_of(counts: ArrayLike, *, ordinal: bool = False) -> ConfusionMatrix:
    """A matrix of counts, actual class along the first axis, with labels 0, 1, ...."""
    array = np.array(counts, np.int64)
    return ConfusionMatrix(array, numbered_labels(len(array), ordinal=ordinal))


def shares_of_two_runs(
    shares: Sequence[float], recalls: Sequence[tuple[float, float]]
) -> NDArray[np.float64]:
    """The share of each triple of two classes (actual, first, second), flat, adding up to 1.

    `recalls` are those of both runs by class; in 36 % of samples both have the same luck.
    """
    cells = np.empty((2, 2, 2))
    for actual, (share, (first, second)) in enumerate(zip(shares, recalls, strict=True)):
        both = 0.36 * min(first, second) + 0.64 * first * second
        right, wrong = actual, 1 - actual
        cells[actual, right, right] = share * both
        cells[actual, right, wrong] = share * (first - both)
        cells[actual, wrong, right] = share * (second - both)
        cells[actual, wrong, wrong] = share * (1 - first - second + both)
    return cells.ravel()


def two_runs(
    *,
    n_samples: int,
    n_classes: int,
    right: float = 0.8,
    shared: float = 0.6,
    seed: int = 0,
    ordinal: bool = False,
) -> JointCounts:
    """Two imperfect runs on uniform classes that give the same answer in a share of samples."""
    rng = np.random.default_rng(seed)
    actual = rng.integers(0, n_classes, n_samples)
    first, other = (
        np.where(rng.random(n_samples) < right, actual, rng.integers(0, n_classes, n_samples))
        for _ in range(2)
    )
    second = np.where(rng.random(n_samples) < shared, first, other)
    return joint_counts(
        actual=actual,
        first=first,
        second=second,
        labels=numbered_labels(n_classes, ordinal=ordinal),
    )


def compute_only(keys: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let intervals of a matrix be those of a few metrics, in a fraction of the time.

    They are the same as among all others: what is drawn does not depend on what is computed of it.
    """
    wanted = {*keys, *suite.BIASED, *suite.CELL_KEYS[:1]}
    for name in ("DRAWN_AGGREGATES", "DRAWN_PER_CLASS", "CELL_KEYS"):
        few = tuple(key for key in getattr(suite, name) if key in wanted)
        monkeypatch.setattr(suite, name, few)
