"""Values, intervals and curves of scores are those of version 0.2.0.

Intervals of the parts of the Brier score changed since: they allow for noise that resamples do not
repeat. For many distinct scores those of calibration errors did too, which draw fewer cells.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from offdiag.metrics.intervals.calibration import MOST_CELLS
from support.recorded_scores import RECORDED, recorded

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
