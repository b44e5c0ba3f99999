"""A line without axes goes where the values go, and stops where there is none."""

from __future__ import annotations

from offdiag_web.charts.svg import UNIT, Extent
from offdiag_web.charts.trend import sparkline, trend
from support.drawings import parsed


def path_of(*values: float | None) -> str:
    mark = parsed(sparkline(values, name="x"))
    return mark.one("line").get("d", "") if mark.count("line") else ""


def test_the_line_rises_from_the_lowest_to_the_highest_value() -> None:
    assert path_of(0.5, 0.75, 1.0) == "M4 16L36 10L68 4"


def test_equal_values_are_a_level_line_in_the_middle() -> None:
    assert path_of(0.7, 0.7) == "M4 10L68 10"


def test_where_there_is_no_value_there_is_a_gap() -> None:
    assert path_of(0.0, 1.0, None, 0.0, 1.0) == "M4 16L20 4M52 16L68 4"


def test_one_value_is_a_dot_and_no_line() -> None:
    mark = parsed(sparkline([0.7], name="x"))

    assert path_of(0.7) == ""
    assert (mark.one("circle").get("cx"), mark.one("circle").get("cy")) == ("68", "10")


def test_no_dot_stands_where_the_last_edition_has_no_value() -> None:
    assert parsed(sparkline([0.7, None], name="x")).count("circle") == 0
    assert parsed(sparkline([None], name="x")).count("circle") == 0


def test_a_point_names_its_value_and_does_not_round_it_to_all() -> None:
    point = Extent(0.9996, 0.9977, 0.99993)

    assert "run 1 of 1: &gt;0.999 (0.998 to &gt;0.999)" in trend([point], scale=UNIT, name="x")
