from decimal import Decimal

from offdiag_web.charts.marks import IN_TABLE, interval_mark
from offdiag_web.charts.svg import UNIT, Extent, Scale
from support.drawings import parsed


def test_the_dot_stands_at_the_estimate_and_the_bar_spans_the_interval() -> None:
    mark = parsed(interval_mark(Extent(0.5, 0.25, 0.75), scale=UNIT, name="recall"))

    assert float(mark.one("circle").get("cx", "")) == IN_TABLE.width / 2
    assert mark.ends_of("bar") == (IN_TABLE.x(0.25), IN_TABLE.x(0.75))


def test_an_estimate_beyond_the_axis_is_an_arrow_and_not_a_dot_at_the_edge() -> None:
    below = parsed(interval_mark(Extent(0.2, 0.1, 0.3), scale=_HIGH, name="low"))
    above = parsed(interval_mark(Extent(0.95), scale=_HIGH, name="high"))

    assert below.count("circle") == above.count("circle") == 0
    assert below.leftmost("point") < IN_TABLE.x(0)
    assert above.rightmost("point") > IN_TABLE.x(1)


def test_a_whisker_is_longer_than_its_bar_and_ends_in_ticks_within_the_axis() -> None:
    mark = parsed(
        interval_mark(Extent(0.6, 0.55, 0.65), scale=_HIGH, name="two", whisker=(0.4, 0.7))
    )

    path = mark.one("whisker").get("d", "")
    assert path.startswith("M6 10H")
    assert path.count("V") == 1


def test_without_an_interval_there_is_no_bar() -> None:
    assert parsed(interval_mark(Extent(0.6), scale=UNIT, name="no interval")).count("bar") == 0


def test_a_baseline_outside_the_axis_is_not_drawn() -> None:
    inside = interval_mark(Extent(0.6), scale=_HIGH, name="mark", baseline=0.55)
    outside = interval_mark(Extent(0.6), scale=_HIGH, name="mark", baseline=0.1)

    assert parsed(inside).count("baseline") == 1
    assert parsed(outside).count("baseline") == 0


def test_what_stands_out_differs_in_shape_and_not_only_in_colour() -> None:
    mark = parsed(interval_mark(Extent(0.5), scale=UNIT, name="mark", stands_out=True))

    assert mark.count("circle") == 0
    assert mark.count("point") == 1


def test_the_name_is_escaped() -> None:
    mark = interval_mark(Extent(0.5), scale=UNIT, name='"><script>alert(1)</script>')

    assert "<script>" not in mark
    assert parsed(mark).name == '"><script>alert(1)</script>'


_HIGH = Scale(Decimal("0.5"), Decimal("0.9"))


def test_better_and_worse_are_diamonds_of_their_own_class() -> None:
    marks = [
        parsed(interval_mark(Extent(0.5, 0.4, 0.6), scale=UNIT, name="mark", tone=tone))
        for tone in ("better", "worse")
    ]

    assert [mark.root.get("class") for mark in marks] == ["mark mark-better", "mark mark-worse"]
    assert [mark.count("circle") for mark in marks] == [0, 0]
