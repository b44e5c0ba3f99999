"""scikit-learn and SciPy as oracles for the score metrics they define as we do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn import calibration
from sklearn import metrics as sk

from offdiag.metrics.scores.calibration import equal_width_bins
from offdiag.metrics.scores.curves import precision_recall_curve, reliability_curve, roc_curve
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.operating_points import operating_points, reduced
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.scores.suite import class_metrics, score_metrics

Floats = NDArray[np.float64]


def event(levels: int, seed: int = 0) -> tuple[NDArray[np.int64], Floats]:
    """400 outcomes and probabilities, with ties when there are few levels."""
    generator = np.random.default_rng(seed)
    actual = (generator.random(400) < 0.3).astype(np.int64)
    p = 0.9 * generator.random(400) + 0.1 * actual
    return actual, np.floor(p * levels) / levels * 0.98 + 0.01


def classes(n_classes: int, seed: int = 0) -> tuple[NDArray[np.int64], Floats]:
    """Every class occurs; rows sum to 1; columns hold no ties."""
    generator = np.random.default_rng(seed)
    actual = np.arange(300) % n_classes
    generator.shuffle(actual)
    weights = generator.random((300, n_classes)) + 0.3 * np.eye(n_classes)[actual]
    return actual, weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("levels", [4, 20, 10**9])
def test_metrics_of_an_event(levels: int) -> None:
    actual, p = event(levels)

    ours = score_metrics(Forecasts(actual, p.reshape(-1, 1), n_classes=2, positive=1))

    theirs = {
        "roc_auc": sk.roc_auc_score(actual, p),
        "average_precision": sk.average_precision_score(actual, p),
        "ks": stats.ks_2samp(p[actual == 1], p[actual == 0]).statistic,
        "log_loss": sk.log_loss(actual, p),
        "log_loss_clipped": sk.log_loss(actual, p),
        "brier_half": sk.brier_score_loss(actual, p, scale_by_half=True),
        "brier_sum": sk.brier_score_loss(actual, p, scale_by_half=False),
        "top_1_accuracy": sk.accuracy_score(actual, p > 0.5),
    }
    for key, value in theirs.items():
        assert ours[key].value == pytest.approx(value, rel=1e-12), key


@pytest.mark.parametrize("levels", [4, 10**9])
def test_doubled_wins_are_twice_the_mann_whitney_statistic(levels: int) -> None:
    actual, p = event(levels)

    wins = rank_scores(actual == 1, p).sums.doubled_wins

    theirs = stats.mannwhitneyu(p[actual == 1], p[actual == 0], method="asymptotic")
    assert wins == 2 * theirs.statistic


@pytest.mark.parametrize("n_classes", [3, 8])
def test_metrics_of_several_classes(n_classes: int) -> None:
    actual, table = classes(n_classes)

    ours = score_metrics(Forecasts(actual, table, n_classes=n_classes))

    for kind in ("ovr", "ovo"):
        for average in ("macro", "weighted"):
            theirs = sk.roc_auc_score(actual, table, multi_class=kind, average=average)
            assert ours[f"roc_auc_{kind}_{average}"].value == pytest.approx(theirs, rel=1e-12)
    assert ours["log_loss"].value == pytest.approx(sk.log_loss(actual, table), rel=1e-12)
    assert ours["brier_sum"].value == pytest.approx(
        sk.brier_score_loss(actual, table, scale_by_half=False), rel=1e-12
    )
    for k in range(1, min(5, n_classes - 1) + 1):
        theirs = sk.top_k_accuracy_score(actual, table, k=k)
        assert ours[f"top_{k}_accuracy"].value == pytest.approx(theirs)


def test_each_class_against_the_rest() -> None:
    actual, table = classes(4)

    ours = class_metrics(Forecasts(actual, table, n_classes=4))

    for code in range(4):
        assert ours["roc_auc"][code].value == pytest.approx(
            sk.roc_auc_score(actual == code, table[:, code]), rel=1e-12
        )
        assert ours["average_precision"][code].value == pytest.approx(
            sk.average_precision_score(actual == code, table[:, code]), rel=1e-12
        )


@pytest.mark.parametrize("levels", [6, 10**9])
def test_the_roc_curve(levels: int) -> None:
    actual, p = event(levels)

    ours = roc_curve(rank_scores(actual == 1, p)).columns

    alarms, hits, thresholds = sk.roc_curve(actual, p, drop_intermediate=False)
    assert np.allclose(ours["false_positive_rate"], alarms, rtol=1e-14)
    assert np.allclose(ours["true_positive_rate"], hits, rtol=1e-14)
    assert np.array_equal(ours["threshold"][1:], thresholds[1:])


def test_the_precision_recall_curve() -> None:
    actual, p = event(25)

    ours = precision_recall_curve(rank_scores(actual == 1, p)).columns

    precision, recall, thresholds = sk.precision_recall_curve(actual, p)
    assert np.allclose(ours["precision"][:0:-1], precision[:-1], rtol=1e-14)
    assert np.allclose(ours["recall"][:0:-1], recall[:-1], rtol=1e-14)
    assert np.array_equal(ours["threshold"][:0:-1], thresholds)


def test_the_reliability_curve() -> None:
    actual, p = event(10**9)

    ours = reliability_curve(equal_width_bins(rank_scores(actual == 1, p), n_bins=10)).columns

    observed, mean_score = calibration.calibration_curve(actual, p, n_bins=10)
    used = ours["count"] > 0
    assert np.allclose(ours["observed_share"][used], observed, rtol=1e-12)
    assert np.allclose(ours["mean_score"][used], mean_score, rtol=1e-12)


@pytest.mark.parametrize("levels", [4, 20, 10**9])
def test_operating_points_are_those_of_both_curves(levels: int) -> None:
    actual, p = event(levels)

    points = operating_points(rank_scores(actual == 1, p))

    theirs = sk.roc_curve(actual, p, drop_intermediate=False)
    assert points.false_positive_rate == pytest.approx(theirs[0], abs=1e-15)
    assert points.recall == pytest.approx(theirs[1], abs=1e-15)
    assert points.thresholds[1:] == pytest.approx(theirs[2][1:], abs=0)
    precision, recall, _ = sk.precision_recall_curve(actual, p)
    assert points.precision()[1:] == pytest.approx(precision[-2::-1], abs=1e-15)
    assert points.recall[1:] == pytest.approx(recall[-2::-1], abs=1e-15)


def test_thinned_points_are_points_of_both_curves() -> None:
    generator = np.random.default_rng(1)
    actual = (generator.random(20_000) < 0.05).astype(np.int64)
    p = generator.random(20_000) ** 2 * 0.8 + 0.2 * actual

    points = reduced(operating_points(rank_scores(actual == 1, p)), cells=64)

    false_positive_rate, recall, _ = sk.roc_curve(actual, p, drop_intermediate=False)
    theirs = set(zip(false_positive_rate.tolist(), recall.tolist(), strict=True))
    ours = zip(points.false_positive_rate.tolist(), points.recall.tolist(), strict=True)
    assert len(points) < 1_000
    assert set(ours) <= theirs
    area = np.trapezoid(points.recall, points.false_positive_rate)
    assert area == pytest.approx(sk.roc_auc_score(actual, p), abs=1 / 64**2)
