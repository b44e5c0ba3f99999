"""scipy, DeLong's own formula and resampled cases as oracles for differences of scores."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import ttest_rel
from sklearn.metrics import roc_auc_score

from offdiag.metrics.paired.scores import ScoreDifference, delong, score_differences
from offdiag.metrics.scores.forecasts import Forecasts


def by_key(first: Forecasts, second: Forecasts) -> dict[str, ScoreDifference]:
    return {each.key: each for each in score_differences(first, second)}


def two_runs(*, n_samples: int, n_classes: int, seed: int = 0) -> tuple[Forecasts, Forecasts]:
    """Probabilities of two runs whose errors have something in common."""
    rng = np.random.default_rng(seed)
    actual = rng.integers(0, n_classes, n_samples)
    common = rng.normal(size=(n_samples, n_classes))
    runs = []
    for sharpness in (0.8, 1.1):
        logits = common + 0.7 * rng.normal(size=common.shape)
        logits[np.arange(n_samples), actual] += sharpness
        table = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        runs.append(Forecasts(actual, table, n_classes=n_classes))
    return runs[0], runs[1]


def test_the_averaged_area_of_two_classes_is_delongs() -> None:
    first, second = two_runs(n_samples=120, n_classes=2)

    found = by_key(first, second)["roc_auc_ovr_macro"]

    expected = delong(first.actual == 1, first.scores[:, 1], second.scores[:, 1])
    assert found.difference.value == pytest.approx(expected.difference, rel=1e-12)
    of_one = [
        Forecasts(each.actual, each.scores[:, 1:], 2, positive=1) for each in (first, second)
    ]
    assert found.p == pytest.approx(by_key(*of_one)["roc_auc"].p, rel=1e-9)


def test_losses_agree_with_a_paired_t_test_and_its_interval() -> None:
    first, second = two_runs(n_samples=80, n_classes=3)
    rows = np.arange(first.n_samples)
    losses = [-np.log(each.scores[rows, each.actual]) for each in (first, second)]
    oracle = ttest_rel(losses[1], losses[0])

    found = by_key(first, second)["log_loss"]

    assert found.p == pytest.approx(oracle.pvalue, rel=1e-9)
    assert (found.difference.ci_low, found.difference.ci_high) == pytest.approx(
        tuple(oracle.confidence_interval()), rel=1e-9
    )


def areas(run: Forecasts, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """The averaged area where each case is there so many `times` (draws, cases), without ties."""
    total = np.zeros(len(times))
    for code in range(run.n_classes):
        is_code = run.actual == code
        ahead = np.greater.outer(run.scores[is_code, code], run.scores[~is_code, code])
        ours, theirs = times[:, is_code], times[:, ~is_code]
        won = ((ours @ ahead.astype(np.int64)) * theirs).sum(axis=1)
        total += won / (ours.sum(axis=1) * theirs.sum(axis=1))
    return total / run.n_classes


def test_the_interval_of_an_averaged_area_is_that_of_resampled_cases() -> None:
    first, second = two_runs(n_samples=400, n_classes=3)
    rows = np.random.default_rng(1).integers(0, 400, (200, 400))
    times = np.array([np.bincount(each, minlength=400) for each in rows])
    drawn = areas(second, times) - areas(first, times)

    once = np.ones((1, 400), np.int64)
    assert areas(first, once)[0] == pytest.approx(
        roc_auc_score(first.actual, first.scores, multi_class="ovr"), rel=1e-12
    )
    found = by_key(first, second)["roc_auc_ovr_macro"].difference

    expected = np.quantile(drawn, [0.025, 0.975])
    assert (found.ci_low, found.ci_high) == pytest.approx(
        tuple(expected), abs=0.12 * float(expected[1] - expected[0])
    )
