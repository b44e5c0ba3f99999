"""Parts of the Brier score by isotonic regression: against scikit-learn, and when they vanish."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from offdiag.metrics.scores import ranking
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.isotonic import DISCRIMINATION, MISCALIBRATION, isotonic_parts, levels
from offdiag.metrics.scores.losses import brier_decomposition, loss_metrics


def parts(forecasts: Forecasts) -> tuple[float, float]:
    found = isotonic_parts(forecasts)
    return float(found[MISCALIBRATION]), float(found[DISCRIMINATION])


def by_scikit_learn(forecasts: Forecasts) -> tuple[float, float]:
    """The parts of each class against the rest, added up."""
    miscalibration = discrimination = 0.0
    for code in range(forecasts.n_classes):
        p: NDArray[np.float64] = forecasts.table[:, code].astype(np.float64)
        y = (forecasts.actual == code).astype(np.float64)
        c = IsotonicRegression().fit(p, y).predict(p)
        calibrated = np.square(c - y).mean()
        miscalibration += np.square(p - y).mean() - calibrated
        discrimination += np.square(y.mean() - y).mean() - calibrated
    return miscalibration, discrimination


SCORES = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(0, 4), min_size=3, max_size=3)),
    min_size=1,
    max_size=40,
)


@given(SCORES)
def test_parts_of_classes_are_those_of_scikit_learn(samples: list[tuple[int, list[int]]]) -> None:
    weights = np.array([row for _, row in samples], float) + 0.25
    table = weights / weights.sum(axis=1, keepdims=True)
    forecasts = Forecasts(np.array([code for code, _ in samples]), table, 3)

    assert parts(forecasts) == pytest.approx(by_scikit_learn(forecasts), abs=1e-12)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=40),
    st.sampled_from([0, 1]),
)
def test_parts_of_one_column_are_those_of_scikit_learn_and_close(
    samples: list[tuple[bool, int]], positive: int
) -> None:
    actual = np.array([happened for happened, _ in samples], int)
    p = np.array([[eighths / 8] for _, eighths in samples], np.float32)
    forecasts = Forecasts(actual, p, 2, positive=positive)

    miscalibration, discrimination = parts(forecasts)

    assert (miscalibration, discrimination) == pytest.approx(by_scikit_learn(forecasts), abs=1e-12)
    uncertainty = float(brier_decomposition(forecasts)["brier_uncertainty"])
    score = float(loss_metrics(forecasts)["brier_sum"])
    assert miscalibration - discrimination + uncertainty == pytest.approx(score, abs=1e-12)


def test_scores_read_in_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    p = rng.random((5_000, 1))
    actual = (rng.random(5_000) < p[:, 0] ** 2).astype(np.uint8)
    whole = parts(Forecasts(actual, p, 2, positive=1))

    monkeypatch.setattr(ranking, "SAMPLES_PER_BLOCK", 64)

    assert parts(Forecasts(actual, p, 2, positive=1)) == pytest.approx(whole, abs=1e-14)


def test_what_is_right_about_scores_has_no_part_in_what_is_wrong() -> None:
    actual = np.array([0, 0, 1, 1])
    separated = Forecasts(actual, np.array([[0.3], [0.4], [0.45], [0.5]]), 2, positive=1)
    constant = Forecasts(actual, np.full((4, 1), 0.5), 2, positive=1)

    assert parts(separated)[1] == 0.5  # All that there is to discriminate.
    assert parts(constant) == (0.0, 0.0)


def test_levels_that_come_undone_one_by_one_are_those_of_scikit_learn() -> None:
    size = np.full(200, 200)
    positive = np.arange(200)
    size[-1], positive[-1] = 10_000, 0  # Pools what is before it, a score at a time.

    events, samples = levels(positive, size)

    shares = IsotonicRegression().fit_transform(
        np.arange(200), positive / size, sample_weight=size
    )
    assert len(samples) == len(np.unique(shares))
    assert events / samples == pytest.approx(np.unique(shares), rel=1e-12)
