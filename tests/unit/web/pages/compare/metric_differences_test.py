"""Lines of differences: the axis is symmetric and printable, and says no more than is known."""

from __future__ import annotations

from decimal import Decimal

import pytest

from offdiag.comparison.differences import judged
from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bounds import Interval
from offdiag_web.components.metric_values import Notes
from offdiag_web.pages.compare.metric_differences import (
    difference_line,
    metric_table,
    symmetric_scale,
)
from support.comparisons import BOTH_RIGHT, pair_of


@pytest.mark.parametrize(
    ("low", "high", "end"),
    [(-0.004, 0.003, "0.01"), (-0.13, 0.02, "0.2"), (0.21, 0.49, "0.5"), (-0.98, 1.4, "2")],
)
def test_the_axis_is_symmetric_and_holds_every_interval(low: float, high: float, end: str) -> None:
    gap = MetricValue((low + high) / 2, None, None, low, high, "m")

    scale = symmetric_scale([judged("mcc", None, MetricValue(0.5), MetricValue(0.5), gap)])

    assert (scale.low, scale.high) == (-Decimal(end), Decimal(end))


def test_nothing_to_show_still_has_an_axis() -> None:
    assert symmetric_scale([]).high == Decimal("0.01")


def test_a_difference_without_an_interval_says_why() -> None:
    pair = pair_of([("yes", "yes", "yes", 30), ("no", "no", "no", 30)])
    line = next(line for line in metric_table(pair, Notes()).lines if line.title == "Macro F1")

    assert line.interval is None
    assert line.why_none == "no example differs"
    assert line.outcome == "no interval"


def test_an_undefined_value_is_the_word_with_its_reason() -> None:
    pair = pair_of([("yes", "yes", "yes", 30), ("no", "no", "yes", 30)])
    notes = Notes()

    line = next(line for line in metric_table(pair, notes).lines if line.title == "MCC")

    assert (line.second.text, line.mark) == ("undefined", None)
    assert line.gap == line.second
    assert notes.texts[(line.second.note or 0) - 1] == "one class was predicted for all examples"


def test_a_mark_says_in_words_what_it_shows() -> None:
    pair = pair_of([*BOTH_RIGHT, ("yes", "no", "yes", 40)])
    line = metric_table(pair, Notes()).lines[0]

    assert line.mark is not None
    assert f"B minus A {line.gap.text}, interval {line.interval}: better" in line.mark
    assert "mark-better" in line.mark
    assert "whisker" in line.mark


def test_what_would_pass_alone_is_captioned_and_not_coloured() -> None:
    gap = MetricValue(0.02, None, None, 0.001, 0.039, "m")
    found = judged(
        *("mcc", None, MetricValue(0.5), MetricValue(0.52), gap),
        simultaneous=Interval(-0.003, 0.043, "m"),
    )

    line = difference_line(found, "MCC", symmetric_scale([found]), Notes(), among="five")

    assert line.caption == "alone it would pass; not among five"
    assert (line.outcome, line.tone) == ("no significant difference", "plain")


def test_what_is_beyond_the_axis_is_an_arrow() -> None:
    gap = MetricValue(5.0, None, None, 4.0, 6.0, "m")
    found = judged(
        *("log_loss", None, MetricValue(1.0), MetricValue(6.0), gap),
        simultaneous=Interval(3.5, 6.5, "m"),
    )

    line = difference_line(found, "Log loss", symmetric_scale([found]), Notes(), among="three")

    assert line.mark is not None
    assert "<circle" not in line.mark
    assert line.tone == "worse"
