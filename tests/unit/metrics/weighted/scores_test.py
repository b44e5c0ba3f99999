"""Metrics of the scores of weighted samples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
    roc_curve,
)

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from offdiag.metrics.weighted.scores import (
    WeightedForecasts,
    weighted_class_metrics,
    weighted_score_metrics,
)

NO_WEIGHTED_INTERVAL = {"ks"}


def binary(seed: int, n: int = 300, levels: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, scores of few `levels`, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(np.uint8)
    p = np.clip(np.round((0.35 * y + rng.random(n) * 0.6) * levels) / levels, 0.01, 0.99)
    return y, p, np.where(rng.random(n) < 0.2, 0.0, rng.lognormal(0, 1, n))


def of_binary(
    y: np.ndarray, p: np.ndarray, w: np.ndarray, *, positive: int = 1
) -> WeightedForecasts:
    forecasts = Forecasts(y, p[:, np.newaxis], n_classes=2, positive=positive)
    return WeightedForecasts.of(forecasts, w)


@pytest.mark.parametrize("levels", [3, 20, 10**9])
def test_values_are_those_of_scikit_learn_with_ties_and_weights_of_zero(levels: int) -> None:
    y, p, w = binary(1, levels=levels)

    found = weighted_score_metrics(of_binary(y, p, w))
    by_class = weighted_class_metrics(of_binary(y, p, w))

    fpr, tpr, _ = roc_curve(y, p, sample_weight=w, drop_intermediate=False)
    assert {key: found[key].value for key in EXPECTED} == pytest.approx(
        {
            "roc_auc": roc_auc_score(y, p, sample_weight=w),
            "average_precision": average_precision_score(y, p, sample_weight=w),
            "ks": np.abs(tpr - fpr).max(),
            "log_loss": log_loss(y, p, sample_weight=w),
            "brier_half": brier_score_loss(y, p, sample_weight=w),
            "brier_sum": 2 * brier_score_loss(y, p, sample_weight=w),
            "top_1_accuracy": np.average((p > 0.5) == y, weights=w),
        }
    )
    assert by_class["roc_auc"][0].value == pytest.approx(found["roc_auc"].value)
    assert by_class["average_precision"][0].value == pytest.approx(
        average_precision_score(1 - y, -p, sample_weight=w)
    )


EXPECTED = (
    "roc_auc",
    "average_precision",
    "ks",
    "log_loss",
    "brier_half",
    "brier_sum",
    "top_1_accuracy",
)


def several(seed: int, n: int = 400) -> tuple[Forecasts, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.6, 0.25, 0.15]).astype(np.uint8)
    p = np.round(rng.dirichlet([1, 1, 1], n) * 20) + 1
    p[np.arange(n), y] += 6
    p /= p.sum(axis=1, keepdims=True)
    return Forecasts(y, p, n_classes=3), np.where(rng.random(n) < 0.2, 0, rng.lognormal(0, 1, n))


def test_values_of_several_classes_are_those_of_scikit_learn() -> None:
    forecasts, w = several(2)
    y, p = forecasts.actual, forecasts.scores

    found = weighted_score_metrics(WeightedForecasts.of(forecasts, w))

    for average in ("macro", "weighted"):
        assert found[f"roc_auc_ovr_{average}"].value == pytest.approx(
            roc_auc_score(y, p, multi_class="ovr", average=average, sample_weight=w)
        )
    assert found["log_loss"].value == pytest.approx(log_loss(y, p, sample_weight=w))
    squared = np.square(p - np.eye(3)[y]).sum(axis=1)
    assert found["brier_sum"].value == pytest.approx(np.average(squared, weights=w))
    assert found["top_2_accuracy"].value is not None
    for key in ("roc_auc_ovo_macro", "ece_top_label_15", "brier_reliability"):
        assert found[key].reason == "scores_not_weighted"


def assert_same(mine: MetricValue, theirs: MetricValue, key: str) -> None:
    assert mine.reason == theirs.reason, key
    assert mine.limit == theirs.limit, key
    for part in ("value", "ci_low", "ci_high"):
        one, other = getattr(mine, part), getattr(theirs, part)
        if key in NO_WEIGHTED_INTERVAL and part != "value":
            assert one is None
            continue
        assert (one is None) == (other is None), (key, part, theirs.ci_method)
        assert one is None or one == pytest.approx(other, rel=1e-7, abs=1e-9), (key, part)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 120),
    levels=st.sampled_from([2, 7, 10**9]),
    weight=st.sampled_from([1.0, 0.125, 3.7]),
    classes=st.integers(2, 4),
    columns=st.booleans(),
)
def test_equal_weights_have_the_values_and_intervals_of_counts(
    seed: int, n: int, levels: int, weight: float, classes: int, columns: bool
) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n).astype(np.uint8)
    if classes > 2 or columns:
        p = np.round(rng.dirichlet(np.ones(classes), n) * levels) + 1e-3 + 0.5 * np.eye(classes)[y]
        forecasts = Forecasts(y, p / p.sum(axis=1, keepdims=True), n_classes=classes)
    else:
        p = np.round((0.3 * y + rng.random(n) * 0.7) * levels) / levels
        forecasts = Forecasts(y, p[:, np.newaxis], n_classes=2, positive=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = dict(score_metrics(forecasts))
        intervals = score_intervals(forecasts, seed=1)
        of_classes = class_score_intervals(forecasts)

    found = WeightedForecasts.of(forecasts, np.full(n, weight))

    mine = weighted_score_metrics(found)
    assert set(mine) == set(values)
    for key, value in mine.items():
        if value.reason != "scores_not_weighted":
            theirs = values[key]
            assert_same(value, intervals[key].around(theirs) if key in intervals else theirs, key)
    by_class = weighted_class_metrics(found)
    for key, expected in class_metrics(forecasts).items():
        for one, other, interval in zip(by_class[key], expected, of_classes[key], strict=True):
            assert_same(one, interval.around(other), key)


def test_samples_of_weight_zero_count_for_nothing_not_even_in_intervals() -> None:
    y, p, w = binary(3)
    kept = w > 0

    whole = weighted_score_metrics(of_binary(y, p, w))
    part = weighted_score_metrics(of_binary(y[kept], p[kept], w[kept]))

    assert {key: value.to_dict() for key, value in whole.items()} == {
        key: value.to_dict() for key, value in part.items()
    }


def test_the_scale_of_weights_does_not_matter() -> None:
    y, p, w = binary(4)

    small, large = (weighted_score_metrics(of_binary(y, p, w * by)) for by in (1e-9, 1e9))

    for key in EXPECTED:
        assert_same(small[key], large[key], key)


def test_certainty_in_the_wrong_class_is_infinite_unless_it_has_no_weight() -> None:
    y, p = np.array([0, 1, 1], np.uint8), np.array([0.2, 0.8, 0.0])

    heavy = weighted_score_metrics(of_binary(y, p, np.array([1, 2, 0.5])))["log_loss"]
    light = weighted_score_metrics(of_binary(y, p, np.array([1, 2, 0.0])))["log_loss"]

    assert (heavy.value, heavy.reason, heavy.limit) == (None, "true_class_got_zero", "+inf")
    assert light.value == pytest.approx(-np.log(0.8))


def test_without_weight_of_a_kind_areas_are_undefined() -> None:
    y, p = np.array([0, 0, 1], np.uint8), np.array([0.2, 0.4, 0.7])

    found = weighted_score_metrics(of_binary(y, p, np.array([1, 2, 0.0])))
    none = weighted_score_metrics(of_binary(y, p, np.zeros(3)))

    assert found["roc_auc"].reason == found["average_precision"].reason == "no_actual_positives"
    assert {value.reason for value in none.values()} == {"no_cases"}


def test_widths_are_those_of_the_spread_of_values_drawn_anew() -> None:
    """Sampled values scatter as their intervals say, where weights go with the scores."""
    drawn = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = (rng.random(400) < 0.4).astype(np.uint8)
        p = 1 / (1 + np.exp(-(rng.normal(0, 1, 400) + 1.5 * y - 0.7)))
        drawn.append(
            weighted_score_metrics(of_binary(y, p, np.exp(2 * p + rng.normal(0, 0.7, 400))))
        )

    for key in ("roc_auc", "average_precision", "brier_half", "log_loss", "top_1_accuracy"):
        found = [each[key] for each in drawn]
        values = np.array([each.value for each in found], np.float64)
        low = np.array([each.ci_low for each in found], np.float64)
        widths = np.array([each.ci_high for each in found], np.float64) - low
        assert np.mean(widths) / (2 * 1.96 * np.std(values)) == pytest.approx(1, abs=0.13), key
