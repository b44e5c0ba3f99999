"""Charts of reports: everything inside the frame, both axes named, gaps left open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.values import MetricValue
from offdiag.reports.charts import Drawing, at, axis_of, interval_chart, trend_chart
from offdiag.reports.report import HistoryPoint
from support.report_figures import UNDEFINED, value


def history(*levels: float | None) -> list[HistoryPoint]:
    return [
        HistoryPoint(number, "t", "best", None if level is None else value(level))
        for number, level in enumerate(levels, start=1)
    ]


def is_inside(drawing: Drawing) -> bool:
    xs = [x for line in drawing.lines for x in (line.x1, line.x2)]
    ys = [y for line in drawing.lines for y in (line.y1, line.y2)]
    xs += [dot.x for dot in drawing.dots] + [label.x for label in drawing.labels]
    ys += [dot.y for dot in drawing.dots] + [label.y for label in drawing.labels]
    return all(0 <= float(x) <= drawing.width for x in xs) and all(
        0 <= float(y) <= drawing.height for y in ys
    )


def titles(drawing: Drawing) -> set[str]:
    return {label.text for label in drawing.labels if label.is_title}


def of_runs(*rows: tuple[str, MetricValue], baseline: float | None = None) -> Drawing:
    return interval_chart(rows, value_title="MCC", rows_are=("run", "runs"), baseline=baseline)


def test_each_row_has_a_dot_and_its_interval() -> None:
    drawing = of_runs(("a", value(0.8)), ("b", value(0.4)))

    assert len(drawing.dots) == 2
    assert sum(line.kind == "interval" for line in drawing.lines) == 2
    assert float(drawing.dots[0].x) > float(drawing.dots[1].x)


def test_both_axes_are_named() -> None:
    assert titles(of_runs(("a", value(0.8)))) == {"MCC", "run"}
    assert titles(trend_chart(history(0.8, 0.7), value_title="MCC")) == {"MCC", "edition"}


def test_an_undefined_value_is_told_in_words() -> None:
    drawing = of_runs(("a", UNDEFINED), ("b", value(0.5)))

    assert len(drawing.dots) == 1
    assert "undefined (this class was never predicted)" in {label.text for label in drawing.labels}


@pytest.mark.parametrize(("baseline", "is_drawn"), [(0.5, True), (0.99, False), (None, False)])
def test_a_baseline_is_drawn_where_the_axis_reaches(
    baseline: float | None, is_drawn: bool
) -> None:
    drawing = of_runs(("a", value(0.5)), baseline=baseline)

    assert any(line.kind == "baseline" for line in drawing.lines) is is_drawn


def test_a_trend_has_a_gap_where_an_edition_had_no_value() -> None:
    drawing = trend_chart(history(0.8, None, 0.7, 0.6), value_title="MCC")

    assert sum(line.kind == "trend" for line in drawing.lines) == 1
    assert len(drawing.dots) == 3


@pytest.mark.parametrize("n", [1, 2, 26])
def test_everything_lies_inside_the_frame(n: int) -> None:
    assert is_inside(trend_chart(history(*[0.9, 0.2, None][:n] * n)[:n], value_title="MCC"))
    long_name = "a name that is far too long for the margin"
    rows = [(f"{long_name} {number}", value(0.5)) for number in range(n)]
    assert is_inside(of_runs(*rows, ("undefined", UNDEFINED), baseline=0.5))


def test_no_coordinate_is_nan() -> None:
    with pytest.raises(ValueError, match="not a coordinate"):
        at(float("nan"))


FINITE = st.floats(min_value=-50, max_value=50, allow_nan=False)


def texts(*values: MetricValue) -> list[str]:
    return [text for _, text in axis_of(values).labels]


def test_ends_are_tidy_and_hold_the_intervals() -> None:
    assert texts(value(0.83), value(0.91)) == ["0.8", "0.85", "0.9", "0.95"]


def test_negative_numbers_have_a_true_minus() -> None:
    assert texts(value(-0.5, 0.5)) == ["−1", "−0.8", "−0.6", "−0.4", "−0.2", "0"]


@pytest.mark.parametrize(("only", "ends"), [(1.0, ("0.9", "1")), (0.0, ("0", "0.1"))])
def test_one_value_without_an_interval_still_has_an_axis(
    only: float, ends: tuple[str, str]
) -> None:
    shown = texts(MetricValue(only))

    assert (shown[0], shown[-1]) == ends


def test_without_any_value_the_axis_goes_from_nothing_to_everything() -> None:
    assert texts(UNDEFINED)[0] == "0"
    assert texts(UNDEFINED)[-1] == "1"


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=6))
def test_everything_lies_on_the_axis_and_ticks_say_where_they_stand(
    pairs: list[tuple[float, float]],
) -> None:
    values = [
        MetricValue(low, ci_low=low, ci_high=high, ci_method="m")
        for low, high in map(sorted, pairs)
    ]

    axis = axis_of(values)

    ends = [end for each in values for end in (each.ci_low or 0.0, each.ci_high or 0.0)]
    assert all(-1e-9 <= axis.fraction(end) <= 1 + 1e-9 for end in ends if end)
    assert 2 <= len(axis.ticks) <= 9
    for place, text in axis.labels:
        assert axis.fraction(float(text.replace("−", "-"))) == pytest.approx(place)
