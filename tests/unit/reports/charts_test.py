"""Charts of reports: everything inside the frame, both axes named, gaps left open."""

from __future__ import annotations

import pytest

from offdiag.domain.values import MetricValue
from offdiag.reports.drawing import Drawing, at
from offdiag.reports.interval_chart import interval_chart
from offdiag.reports.report import HistoryPoint
from offdiag.reports.trend_chart import trend_chart
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
    return interval_chart(rows, value_title="MCC", row_title="run", baseline=baseline)


def test_each_row_has_a_dot_and_its_interval() -> None:
    drawing = of_runs(("a", value(0.8)), ("b", value(0.4)))

    assert len(drawing.dots) == 2
    assert sum(line.kind == "interval" for line in drawing.lines) == 2
    assert float(drawing.dots[0].x) > float(drawing.dots[1].x)


def test_both_axes_are_named() -> None:
    assert titles(of_runs(("a", value(0.8)))) == {"MCC", "run"}
    assert titles(trend_chart(history(0.8, 0.7), value_title="MCC")) == {"MCC", "issue"}


def test_an_undefined_value_is_told_in_words() -> None:
    drawing = of_runs(("a", UNDEFINED), ("b", value(0.5)))

    assert len(drawing.dots) == 1
    assert "undefined (no predicted positives)" in {label.text for label in drawing.labels}


@pytest.mark.parametrize(("baseline", "is_drawn"), [(0.5, True), (0.99, False), (None, False)])
def test_a_baseline_is_drawn_where_the_axis_reaches(
    baseline: float | None, is_drawn: bool
) -> None:
    drawing = of_runs(("a", value(0.5)), baseline=baseline)

    assert any(line.kind == "baseline" for line in drawing.lines) is is_drawn


def test_a_trend_has_a_gap_where_an_issue_had_no_value() -> None:
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
    with pytest.raises(ValueError, match="no coordinate"):
        at(float("nan"))
