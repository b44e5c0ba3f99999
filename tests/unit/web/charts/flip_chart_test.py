import math
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offdiag_web.charts.flip_chart import HEIGHT, WIDTH, FlipAxis, FlipLine, flip_axis, flip_chart
from offdiag_web.charts.marks import run_style
from support.drawings import Drawing, parsed

FRAME_TOP, FRAME_BOTTOM = 22.0, 232.0


def chart(
    *times: Sequence[float],
    axis: FlipAxis | None = None,
    flips: Sequence[float] = (),
    now: float = 1,
) -> Drawing:
    found = axis or flip_axis([])
    lines = [
        FlipLine(
            "ABCDEFGH"[place],
            run_style(place),
            np.interp(np.log(found.at), np.log([1, 100]), np.array(ends, float)),
        )
        for place, ends in enumerate(times)
    ]
    return parsed(flip_chart(lines, found, flips=flips, now=now, x_title="price", name="flips"))


def texts(drawing: Drawing, css_class: str) -> list[str]:
    return [p.text or "" for p in drawing.root if css_class in (p.get("class") or "").split()]


def test_the_axis_spans_whole_powers_of_ten_and_holds_every_mark() -> None:
    axis = flip_axis([0.03, 7.0])

    assert [float(tick) for tick in axis.ticks] == [
        *(0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        *(1, 2, 5, 10, 20, 50, 100),
    ]
    assert {0.03, 7.0} <= set(axis.at.tolist())


def test_ticks_stand_where_their_text_says() -> None:
    drawing = chart((1, 2), axis=flip_axis([0.2]))
    places = {
        p.text: float(p.get("x", "nan"))
        for p in drawing.root
        if p.get("class") == "tick" and float(p.get("y", "0")) > FRAME_BOTTOM
    }

    left, right = places["0.1×"], places["100×"]
    for text, x in places.items():
        share = math.log10(float((text or "").rstrip("×"))) + 1
        assert abs(x - (left + share / 3 * (right - left))) < 0.02


def test_the_frame_ends_at_a_quarter_more_and_says_how_far_others_are_behind() -> None:
    drawing = chart((1, 1), (1, 3.5))

    assert "1.25×" in texts(drawing, "tick")
    assert texts(drawing, "run-letter") == ["A 1.00×", "B 3.50× ↑"]


def test_where_no_run_is_a_multiple_of_the_cheapest_the_line_has_a_gap() -> None:
    axis = flip_axis([])
    times = np.ones(len(axis.at))
    times[40:80] = np.nan

    drawing = parsed(
        flip_chart(
            [FlipLine("A", run_style(0), times)], axis, flips=(), now=1, x_title="p", name="n"
        )
    )

    assert len([p for p in drawing.root if (p.get("class") or "").startswith("line")]) == 2


def test_flips_and_the_price_as_it_is_are_marked_inside_the_frame_only() -> None:
    drawing = chart((1, 2), flips=(4.0, 1e5), now=1e7)

    assert drawing.count("flip") == 1
    assert drawing.count("now") == 0


@given(
    st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=1, max_size=8),
    st.lists(st.floats(1e-4, 1e6), max_size=4),
    st.floats(0, 1e9),
)
def test_everything_that_is_drawn_lies_in_the_picture(
    ends: list[tuple[float, float]], flips: list[float], now: float
) -> None:
    drawing = chart(*ends, axis=flip_axis(flips), flips=flips, now=now)

    for x, y in drawing.points:
        assert -0.01 <= x <= WIDTH + 0.01
        assert -0.01 <= y <= HEIGHT + 0.01
