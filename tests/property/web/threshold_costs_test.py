"""Cost against threshold: everything inside the picture, ticks that say what they are."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offdiag_web.charts.plot import ticks_of
from offdiag_web.charts.svg import spanning
from offdiag_web.components.costs.threshold_chart import (
    FRAME,
    HEIGHT,
    WIDTH,
    ThresholdCurve,
    drawn_curve,
)
from support.drawings import parsed, points_of


@st.composite
def curves(draw: st.DrawFn) -> ThresholdCurve:
    """Thresholds of any scores, with costs of errors and of correct predictions."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([1.0, 0.01, 1e-6, 1e20]))
    thresholds = np.unique(generator.random(draw(st.integers(2, 60))) * size)
    if size > 1:
        thresholds -= size / 2
    costs = generator.normal(size=len(thresholds)) * 10.0 ** generator.integers(-3, 6)
    if draw(st.booleans()):
        costs = np.abs(costs)
    best = int(costs.argmin())
    reach = draw(st.floats(0, 10))
    return ThresholdCurve(
        thresholds,
        costs,
        costs - reach,
        costs + reach,
        ["3 missed"] * len(costs),
        best,
        float(costs[best]) + draw(st.floats(0, 100)),
        draw(st.none() | st.floats(0.001, 0.999)),
        "{:.6g}".format,
    )


@given(curves())
def test_everything_lies_inside_and_nothing_above_the_frame_is_drawn_in_it(
    curve: ThresholdCurve,
) -> None:
    found = parsed(
        drawn_curve(
            curve,
            x_title="score",
            y_title="cost",
            now_text="now",
            best_text="best",
            name="<b>&",
        )
    )

    assert found.name == "<b>&"
    for x, y in found.points:
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT
    for part in found.root:
        if part.get("class") in {"curve", "band", "threshold", "no-skill", "now"}:
            for x, y in points_of(part):
                assert FRAME.left <= x <= FRAME.right
                assert FRAME.top - 0.01 <= y <= FRAME.bottom + 0.01


@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda end: round(end, 4)), min_size=2, max_size=2).filter(
        lambda ends: ends[0] != ends[1]
    )
)
def test_the_text_of_a_tick_is_its_value(ends: list[float]) -> None:
    scale = spanning(ends)

    ticks = ticks_of(scale)

    assert 2 <= len(ticks) <= 8
    for text, place in ticks:
        value = float(text.replace("\N{MINUS SIGN}", "-"))
        assert math.isclose(scale.fraction(value), place, abs_tol=1e-9)
        assert -1e-9 <= place <= 1 + 1e-9
