"""Values, intervals and curves of scores are those of version 0.2.0.

Intervals of the parts of the Brier score changed since: they allow for noise that resamples do not
repeat. For many distinct scores those of calibration errors did too, which draw fewer cells.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals.calibration import MOST_CELLS
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.score_curves import ScoreCurve, score_curves
from offdiag.services.evaluation.compute import of_scores


def _event(n_samples: int, *, digits: int | None = None, sharp: float = 1.0) -> Forecasts:
    rng = np.random.default_rng(n_samples)
    logit = 1.5 * rng.standard_normal(n_samples) - 1.0
    actual = (rng.random(n_samples) < 1 / (1 + np.exp(-logit))).astype(np.uint8)
    p = 1 / (1 + np.exp(-sharp * (logit + 0.3)))
    p = p if digits is None else np.round(p, digits)
    return Forecasts(actual, p.astype(np.float32).reshape(-1, 1), n_classes=2, positive=1)


def _signed() -> Forecasts:
    rng = np.random.default_rng(4)
    actual = (rng.random(9_000) < 0.1).astype(np.uint8)
    margin = rng.standard_normal(9_000) + actual
    return Forecasts(actual, margin.astype(np.float32).reshape(-1, 1), n_classes=2, positive=0)


def _double(n_samples: int) -> Forecasts:
    given = _event(n_samples)
    p = given.scores.astype(np.float64) * 0.999 + np.arange(n_samples)[:, np.newaxis] * 1e-9
    return Forecasts(given.actual, p, n_classes=2, positive=1)


def _classes(n_samples: int, n_classes: int, *, digits: int | None = None) -> Forecasts:
    rng = np.random.default_rng(n_classes)
    actual = rng.integers(0, n_classes, n_samples)
    logits = rng.standard_normal((n_samples, n_classes))
    logits[np.arange(n_samples), actual] += 1.5
    table = np.exp(logits)
    table /= table.sum(axis=1, keepdims=True)
    if digits is not None:
        table = np.round(table, digits)
        table[:, -1] = np.abs(1 - table[:, :-1].sum(axis=1))
    positive = 1 if n_classes == 2 else None
    return Forecasts(
        actual.astype(np.uint8), table.astype(np.float32), n_classes=n_classes, positive=positive
    )


RECORDED: Mapping[str, Callable[[], Forecasts]] = {
    "few": lambda: _event(40),
    "distinct": lambda: _event(20_000),
    "tied": lambda: _event(20_001, digits=2),
    "saturated": lambda: _event(20_002, sharp=14.0),
    "signed": _signed,
    "double": lambda: _double(9_001),
    "two columns": lambda: _classes(6_000, 2),
    "three classes": lambda: _classes(6_001, 3),
    "three classes, tied": lambda: _classes(9_002, 3, digits=1),
}


def recorded(forecasts: Forecasts) -> dict[str, Any]:
    """Values with their intervals, and digests of what has to be the same to the bit."""
    values = of_scores(forecasts)
    counts = np.zeros((forecasts.n_classes, forecasts.n_classes), np.int64)
    np.add.at(counts, (forecasts.actual, forecasts.table.argmax(axis=1)), 1)
    return {
        "aggregate": {key: value.to_dict() for key, value in values.aggregate.items()},
        "per_class": {
            key: [value.to_dict() for value in found] for key, found in values.per_class.items()
        },
        "curves": [_curve(curve) for curve in score_curves(forecasts, counts)],
    }


def _curve(curve: ScoreCurve) -> dict[str, Any]:
    points = curve.points
    found: dict[str, Any] = {
        "code": curve.code,
        "n_thresholds": points.n_thresholds,
        "points": _digest(points.thresholds, points.true_positives, points.false_positives),
        "histogram": _digest(
            curve.histogram.edges, curve.histogram.positive, curve.histogram.negative
        ),
    }
    if curve.bins is not None:
        found["bins"] = _digest(curve.bins.edges, curve.bins.count, curve.bins.happened)
        found["score_sum"] = curve.bins.score_sum.tolist()
    return found


def _digest(*columns: NDArray[Any]) -> str:
    return hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()[:16]


EXPECTED = json.loads(Path(__file__).with_name("scores_0_2_0.json").read_text(encoding="utf-8"))
PARTS, OF_MANY = ("brier_reliability", "brier_resolution"), ("ece_", "mce_")
LATER = ("brier_miscalibration", "brier_discrimination")
INTERVAL = ("ci_low", "ci_high", "ci_method")


@pytest.mark.parametrize("name", RECORDED)
def test_results_are_those_of_the_last_release(name: str) -> None:
    forecasts = RECORDED[name]()
    found = recorded(forecasts)
    expected = EXPECTED[name]
    for key in LATER:
        del found["aggregate"][key]

    assert _plain(found) == _plain(expected)
    is_of_many = len(np.unique(forecasts.scores, axis=0)) > MOST_CELLS // forecasts.n_classes
    for each in (found, expected):
        _keep_values_only(each["aggregate"], (*PARTS, *OF_MANY) if is_of_many else PARTS)
    for old, new in zip(_numbers(expected), _numbers(found), strict=True):
        assert new == pytest.approx(old, rel=1e-12, abs=1e-14)


def _keep_values_only(aggregate: dict[str, Any], changed: tuple[str, ...]) -> None:
    for key, value in aggregate.items():
        if key.startswith(changed):
            for part in INTERVAL:
                value.pop(part, None)


def _plain(found: dict[str, Any]) -> object:
    """What has to be the same to the bit: points of curves, bins, reasons."""
    return (
        [
            {key: value for key, value in curve.items() if key != "score_sum"}
            for curve in found["curves"]
        ],
        {key: value["reason"] for key, value in found["aggregate"].items()},
        {
            key: [each["ci_method"] for each in values]
            for key, values in found["per_class"].items()
        },
    )


def _numbers(found: object) -> list[float]:
    if isinstance(found, dict):
        return [number for key in sorted(found) for number in _numbers(found[key])]
    if isinstance(found, list):
        return [number for each in found for number in _numbers(each)]
    return [float(found)] if isinstance(found, int | float) else []
