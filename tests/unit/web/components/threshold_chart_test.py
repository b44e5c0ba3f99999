"""Cost over threshold as a drawing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from offdiag_web.components.costs.threshold_chart import (
    FRAME,
    HEIGHT,
    WIDTH,
    ThresholdCurve,
    drawn_curve,
)
from support.drawings import Drawing, parsed, points_of


def drawn(thresholds: list[float], costs: list[float], **more: float | None) -> Drawing:
    found = np.array(costs)
    curve = ThresholdCurve(
        np.array(thresholds),
        found,
        found * 0.8,
        found * 1.2,
        ["3 missed"] * len(thresholds),
        int(found.argmin()),
        more.get("now", 50.0),
        more.get("implied"),
        "{:.6g}".format,
    )
    return parsed(
        drawn_curve(
            curve, x_title="score", y_title="cost", now_text="now", best_text="best", name="costs"
        )
    )


def test_equal_ratios_of_scores_are_equal_steps() -> None:
    found = drawn([0.01, 0.1, 0.5, 1.0], [80, 20, 60, 100])

    ring = found.one("ring")
    share = math.log(0.1 / 0.01) / math.log(1 / 0.01)
    assert float(ring.get("cx", "nan")) == pytest.approx(FRAME.x(share), abs=0.01)


def test_a_cost_holds_down_to_the_next_score() -> None:
    # Neither axis is logarithmic: a score is above 1, and the lowest cost is 0.
    found = drawn([0.0, 5.0, 10.0], [80, 0, 100])

    levels = points_of(found.one("curve"))
    costs = [round(100 * (FRAME.bottom - y) / FRAME.height) for _, y in levels]
    places = [round((x - FRAME.left) / FRAME.width, 2) for x, _ in levels]
    assert list(zip(places, costs, strict=True)) == [
        (0.0, 80),
        (0.0, 0),
        (0.5, 0),
        (0.5, 100),
        (1.0, 100),
    ]


@pytest.mark.parametrize(
    ("thresholds", "costs", "more"),
    [
        ([0.0, 0.2, 1.0], [0.0, 4.0, 9.0], {}),
        ([-3.0, 0.0, 12.0], [5.0, -2.0, 9.0], {"now": None}),
        ([0.5], [7.0], {"implied": 0.048}),
        ([1e-9, 0.3], [1000.0, 1.0], {"now": 400.0, "implied": 0.9}),
    ],
)
def test_everything_lies_in_the_picture(
    thresholds: list[float], costs: list[float], more: dict[str, float | None]
) -> None:
    found = drawn(thresholds, costs, **more)

    for x, y in (*found.points, *points_of(found.one("band"))):
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT


def test_thresholds_are_named_by_what_reports_the_same_examples() -> None:
    found = drawn([0.5, 0.99993, 0.99997], [80, 20, 60], implied=0.99995)

    said = [part.get("data-read", "") for part in found.root if part.get("class") == "spot"]
    assert [text.split(":")[0] for text in said] == ["from 0.5", "from 0.99993", "from 0.99997"]
    texts = [part.text or "" for part in found.root if part.get("class") == "direct quiet"]
    assert texts == ["0.99995, if scores were calibrated"]
