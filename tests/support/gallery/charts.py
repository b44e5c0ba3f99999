"""Charts of classes, runs and costs in each of their states; those of scores are in `curves`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from offdiag_web.charts.flip_chart import FlipAxis, FlipLine, flip_axis, flip_chart
from offdiag_web.charts.marks import (
    MOST_MARKED,
    BarPart,
    churn_bar,
    class_strip,
    run_mark,
    run_style,
    strip_axis,
)
from offdiag_web.charts.rate_map import MarkedRun, rate_map_drawing
from offdiag_web.charts.recall_by_size import ClassPoint, Floor, recall_by_size
from offdiag_web.charts.svg import UNIT, Extent
from offdiag_web.charts.trend import sparkline, trend
from offdiag_web.components.controls import Tab
from support.gallery import examples
from support.gallery.addresses import pages
from support.gallery.curves import score_charts


@dataclass(frozen=True, slots=True)
class ChartExamples:
    """One chart; its pictures with what each shows."""

    name: str
    states: tuple[tuple[str, Markup], ...]


@dataclass(frozen=True, slots=True)
class ChartsView:
    """Pictures of scores, then all others, each in its states."""

    pages: tuple[Tab, ...]
    charts: tuple[tuple[str, Markup], ...]
    drawings: tuple[ChartExamples, ...]


def charts_view() -> ChartsView:
    """Everything, made anew for each request; nothing here is read from a database."""
    return ChartsView(pages("charts"), score_charts(), charts())


def charts() -> tuple[ChartExamples, ...]:
    """Those that are SVG."""
    return (
        ChartExamples("Recall by class size", tuple(_recall_by_size())),
        ChartExamples("When the choice flips", tuple(_flip_charts())),
        ChartExamples("Which examples changed", tuple(_churn_bars())),
        ChartExamples("Class strips", tuple(_class_strips())),
        ChartExamples("Marks of runs", tuple(_run_marks())),
        ChartExamples("Metric over both rates", tuple(_rate_maps())),
        ChartExamples("Trend", tuple(_trends())),
        ChartExamples("Sparkline", tuple(_sparklines())),
    )


def _recall_by_size() -> Iterator[tuple[str, Markup]]:
    floor = Floor(0.8, "0.8 × the rest")
    points = (
        ClassPoint("nv", 1_006, 0.98, 0.97, 0.99),
        ClassPoint("mel", 168, 0.57, 0.50, 0.64, stands_out=True),
        ClassPoint("df", 17, 0.0, 0.0, 0.18, stands_out=True),
        ClassPoint(examples.HOSTILE_NAMES[0], 21, 0.95, 0.77, 0.99),
    )
    yield "with a floor", recall_by_size(points, floor=floor, name="with a floor")
    yield "without", recall_by_size(points, floor=None, name="without a floor")
    yield "one class", recall_by_size(points[:1], floor=floor, name="one class")


def _flip_charts() -> Iterator[tuple[str, Markup]]:
    near, far = flip_axis([12.0], points=40), flip_axis([0.5, 900.0], points=40)
    yield "one flip", _flip_chart(near, flip=12.0, now=20.0, name="one flip")
    yield "no flip", _flip_chart(near, flip=None, now=1.0, name="no flip")
    yield "beyond the frame", _flip_chart(far, flip=12.0, now=2_000.0, name="beyond the frame")


def _flip_chart(axis: FlipAxis, *, flip: float | None, now: float, name: str) -> Markup:
    one = axis.at + 1
    other = one * 1.5 if flip is None else np.full_like(one, flip + 1)
    cheapest = np.minimum(one, other)
    lines = [
        FlipLine(letter, run_style(position), costs / cheapest)
        for position, (letter, costs) in enumerate((("A", one), ("B", other)))
    ]
    flips = () if flip is None else (flip,)
    return flip_chart(lines, axis, flips=flips, now=now, x_title="price of a miss", name=name)


def _churn_bars() -> Iterator[tuple[str, Markup]]:
    for state, counts in (
        ("all four", (568, 10, 16, 14)),
        ("no room for letters", (9_000, 1, 1, 1)),
        ("nothing changed", (90, 0, 0, 10)),
    ):
        kinds = zip(("right", "a", "b", "wrong"), ("", "A", "B", ""), counts, strict=True)
        segments = [BarPart(count, f"churn-{kind}", letter) for kind, letter, count in kinds]
        yield state, churn_bar(segments, name=state)


def _class_strips() -> Iterator[tuple[str, Markup]]:
    two = [Extent(0.4, 0.2, 0.6), Extent(0.9, 0.8, 1.0)]
    yield "axis", strip_axis(name="axis")
    yield "two runs", class_strip(two, name="two runs")
    yield "one undefined", class_strip([two[0], None, two[1]], name="one undefined")
    yield "all marks", class_strip([two[0]] * MOST_MARKED, name="all marks")


def _run_marks() -> Iterator[tuple[str, Markup]]:
    for position in range(MOST_MARKED):
        yield f"run {position + 1}", run_mark(position, name=f"run {position + 1}")


def _rate_maps() -> Iterator[tuple[str, Markup]]:
    heights = [[(up + right) / 10 for right in range(6)] for up in range(6)]
    undefined = [[None, *line[1:]] for line in heights]
    marked = (MarkedRun("A", 0.7, 0.9), MarkedRun("B", 1.0, 0.0))
    yield "correct", rate_map_drawing(heights, marked, name="correct", ramp="correct")
    yield "error", rate_map_drawing(heights, (), name="error", ramp="error")
    yield "undefined", rate_map_drawing(undefined, marked, name="undefined", ramp="correct")


def _trends() -> Iterator[tuple[str, Markup]]:
    points = [Extent(0.6 + step / 20, 0.5 + step / 20, 0.7 + step / 20) for step in range(5)]
    yield "five points", trend(points, scale=UNIT, name="five points")
    yield "a gap", trend([*points[:2], None, *points[3:]], scale=UNIT, name="a gap")
    yield "one point", trend(points[:1], scale=UNIT, name="one point")


def _sparklines() -> Iterator[tuple[str, Markup]]:
    yield "rising", sparkline([0.7, 0.8, 0.9], name="rising")
    yield "a gap", sparkline([0.7, None, 0.9, 0.8], name="a gap")
    yield "one value", sparkline([0.7], name="one value")
