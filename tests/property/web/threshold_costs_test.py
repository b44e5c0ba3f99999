"""Cost against threshold: everything inside the picture, ticks that say what they are."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offdiag_web.charts.plot import ticks_of
from offdiag_web.charts.svg import spanning
from offdiag_web.charts.threshold_costs import FRAME, CostLine, Mark, threshold_cost_chart
from support.drawings import parsed, points_of

prices = st.floats(-1e6, 1e6).map(lambda price: round(price, 3))


@st.composite
def lines(draw: st.DrawFn) -> CostLine:
    """Thresholds of any scores, with costs of errors and of correct predictions."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 60))
    size = draw(st.sampled_from([1.0, 0.01, 1e-6, 1e20]))
    is_probability = size <= 1.0
    thresholds = np.unique(generator.random(n) * size)[::-1]
    if not is_probability:
        thresholds = thresholds - size / 2
    costs = generator.normal(size=len(thresholds)) * 10.0 ** generator.integers(-3, 6)
    costs[[0, -1]] = draw(prices), draw(prices)
    best = int(costs.argmin())
    low = float(costs[best]) - draw(st.floats(0, 10))
    others = tuple(
        Mark(name, at, cost)
        for name, at, cost in (
            ("in use", float(thresholds[len(thresholds) // 2]), float(costs[len(costs) // 2])),
            ("implied", draw(st.floats(-2, 2)), float(costs[-1])),
        )
    )
    return CostLine(
        thresholds,
        costs,
        Mark("cheapest", float(thresholds[best]), float(costs[best]), low, float(costs[best])),
        others,
        "{:.6g}".format,
        is_probability,
    )


@given(lines())
def test_everything_lies_inside_and_nothing_above_the_frame_is_drawn_in_it(line: CostLine) -> None:
    svg = threshold_cost_chart(
        line, x_title="threshold", y_title="cost", nothing="none", everything="all", name="<b>&"
    )

    found = parsed(svg)
    assert found.name == "<b>&"
    _, _, width, height = found.view_box
    for x, y in found.points:
        assert math.isfinite(x)
        assert math.isfinite(y)
        assert 0 <= x <= width
        assert 0 <= y <= height
    for part in found.root:
        if part.get("class") in {"curve", "threshold", "no-skill", "whisker"}:
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

    ticks = ticks_of(scale, steps=5, form=",f")

    assert 2 <= len(ticks) <= 7
    for text, place in ticks:
        value = float(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))
        assert math.isclose(scale.fraction(value), place, abs_tol=1e-9)
        assert -1e-9 <= place <= 1 + 1e-9
