from decimal import Decimal

from hypothesis import assume, given
from hypothesis import strategies as st

from offdiag_web.charts.marks import (
    IN_PANEL,
    IN_TABLE,
    IN_TILE,
    BarPart,
    Canvas,
    churn_bar,
    class_strip,
    interval_mark,
    share_bar,
)
from offdiag_web.charts.matrix_picture import matrix_picture
from offdiag_web.charts.recall_by_size import Box, ClassPoint, Floor, placed, recall_by_size
from offdiag_web.charts.svg import SIGNED_UNIT, UNIT, Extent, Scale, fitted, log_scale_over
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
        extent, scale=scale, name="mark", baseline=baseline, stands_out=stands_out, canvas=canvas
    )

    assert_inside(parsed(mark))


@given(extent=extents(), scale=scales())
def test_a_dot_is_drawn_exactly_where_the_estimate_is_on_the_axis(
    extent: Extent, scale: Scale
) -> None:
    low, high = float(scale.low), float(scale.high)
    beyond = max(low - extent.estimate, extent.estimate - high)
    # What lies so close behind an end is drawn on it.
    assume(beyond <= 0 or beyond > 1e-9 * (high - low))

    mark = parsed(interval_mark(extent, scale=scale, name="mark"))

    assert mark.count("circle") == int(beyond <= 0)


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


@st.composite
def class_points(draw: st.DrawFn) -> ClassPoint:
    """A class of any size whose recall lies within its interval."""
    low, recall, high = sorted(draw(st.tuples(shares, shares, shares)))
    name = draw(st.text(st.characters(exclude_categories=["C"]), max_size=20))
    return ClassPoint(name, draw(st.integers(1, 10**9)), recall, low, high, draw(st.booleans()))


@given(
    points=st.lists(class_points(), min_size=1, max_size=40),
    floor=st.none() | shares.map(lambda recall: Floor(recall, "floor 0.123")),
)
def test_nothing_of_recall_against_size_lies_outside_its_picture(
    points: list[ClassPoint], floor: Floor | None
) -> None:
    chart = parsed(recall_by_size(points, floor=floor, name="chart"))

    assert_inside(chart)
    assert chart.count("whisker") + chart.count("whisker whisker-out") == len(points)


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=20))
def test_ticks_of_sizes_lie_on_an_axis_that_holds_all_sizes(counts: list[int]) -> None:
    scale = log_scale_over(counts)

    assert all(0 <= scale.fraction(count) <= 1 for count in [*counts, *scale.ticks])
    assert len(scale.ticks) >= 2


@given(
    st.lists(st.tuples(st.text(max_size=12), st.floats(0, 300), st.floats(0, 200)), max_size=30)
)
def test_names_lie_inside_and_never_cross(names: list[tuple[str, float, float]]) -> None:
    room = Box(0, 0, 300, 200)

    boxes = [caption.box for caption in placed(names, within=room, taken=[])]

    assert all(room.contains(box) for box in boxes)
    assert not any(
        one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place]
    )


def assert_inside(drawing: Drawing, *, slack: float = 0.0) -> None:
    left, top, width, height = drawing.view_box
    for x, y in drawing.points:
        assert left <= x <= left + width + slack
        assert top <= y <= top + height + slack


@given(st.lists(st.integers(0, 10**7), min_size=4, max_size=4).filter(any))
def test_a_churn_bar_fills_its_picture_exactly(counts: list[int]) -> None:
    segments = [BarPart(count, f"s{place}", "A") for place, count in enumerate(counts)]

    bar = parsed(churn_bar(segments, name="bar"))

    assert_inside(bar, slack=0.05)
    widths = [float(part.get("width", "nan")) for part in bar.root if part.tag == "rect"]
    assert len(widths) == sum(count > 0 for count in counts)
    assert abs(sum(widths) - bar.view_box[2]) < 0.05


@given(st.lists(st.none() | extents(shares), min_size=1, max_size=8))
def test_nothing_of_a_strip_lies_outside_its_picture(shown: list[Extent | None]) -> None:
    assert_inside(parsed(class_strip(shown, name="strip")))


@given(
    st.integers(1, 12).flatmap(
        lambda k: st.lists(
            st.lists(st.sampled_from(["", "correct-3", "error-9"]), min_size=k, max_size=k),
            min_size=k,
            max_size=k,
        )
    )
)
def test_nothing_of_a_matrix_picture_lies_outside_it(cells: list[list[str]]) -> None:
    assert_inside(parsed(matrix_picture(cells, name="matrix")), slack=0.05)
