from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from offdiag_web.charts.bar import share_bar
from offdiag_web.charts.interval import IN_PANEL, IN_TABLE, IN_TILE, Canvas, interval_mark
from offdiag_web.charts.scale import SIGNED_UNIT, UNIT, Extent, Scale, fitted
from support.drawings import Drawing, parsed

values = st.floats(-2, 2)
shares = st.floats(0, 1)


@st.composite
def extents(draw: st.DrawFn, within: st.SearchStrategy[float] = values) -> Extent:
    """An estimate, alone or inside an interval."""
    if draw(st.booleans()):
        return Extent(draw(within))
    low, estimate, high = sorted(draw(st.tuples(within, within, within)))
    return Extent(estimate, low, high)


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    """An axis with ends of at most two decimals."""
    low, high = draw(st.lists(st.integers(-100, 100), min_size=2, max_size=2, unique=True))
    return Scale(Decimal(min(low, high)) / 100, Decimal(max(low, high)) / 100)


@given(
    extent=extents(),
    scale=scales(),
    baseline=st.none() | values,
    stands_out=st.booleans(),
    canvas=st.sampled_from([IN_TABLE, IN_TILE, IN_PANEL]),
)
def test_nothing_of_a_mark_lies_outside_its_picture(
    extent: Extent, scale: Scale, baseline: float | None, stands_out: bool, canvas: Canvas
) -> None:
    mark = interval_mark(
        extent,
        scale=scale,
        name="mark",
        baseline=baseline,
        stands_out=stands_out,
        canvas=canvas,
    )

    assert_inside(parsed(mark))


@given(extent=extents(), scale=scales())
def test_a_dot_is_drawn_exactly_where_the_estimate_is_on_the_axis(
    extent: Extent, scale: Scale
) -> None:
    mark = parsed(interval_mark(extent, scale=scale, name="mark"))

    is_inside = float(scale.low) <= extent.estimate <= float(scale.high)
    assert mark.count("circle") == int(is_inside)


@given(share=shares, width=st.integers(10, 400))
def test_nothing_of_a_bar_lies_outside_its_picture(share: float, width: int) -> None:
    bar = parsed(share_bar(share, name="bar", width=width))

    assert_inside(bar)
    assert (float(bar.one("fill").get("width", "nan")) > 0) == (share > 0)


@given(st.lists(extents(shares), max_size=20))
def test_a_fitted_axis_lies_within_its_limits_and_prints_its_true_ends(
    shown: list[Extent],
) -> None:
    scale = fitted(shown, within=UNIT)

    assert 0 <= scale.low < scale.high <= 1
    low, high = (Decimal(end.replace("−", "-")) for end in scale.ends)
    assert (low, high) == (scale.low, scale.high)
    assert scale.fraction(float(low)) == 0
    assert scale.fraction(float(high)) == 1


@given(st.lists(extents(st.floats(-1, 1)), min_size=1, max_size=3))
def test_few_marks_are_all_shown_whole(shown: list[Extent]) -> None:
    scale = fitted(shown, within=SIGNED_UNIT)

    assert all(scale.fraction(extent.lowest) >= -1e-9 for extent in shown)
    assert all(scale.fraction(extent.highest) <= 1 + 1e-9 for extent in shown)


def assert_inside(drawing: Drawing) -> None:
    left, top, width, height = drawing.view_box
    for x, y in drawing.points:
        assert left <= x <= left + width
        assert top <= y <= top + height
