"""Addresses of reports name any report, and lines of values stay inside their pictures."""

from __future__ import annotations

from typing import Literal
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.slices import Slice, SliceTerm
from offdiag.domain.texts import name_from_path
from offdiag.reports.scope import Condition, Side
from offdiag.services.reports.alerts import alert_condition, alert_text
from offdiag_web.charts.trend import SPARKLINE_HEIGHT, SPARKLINE_WIDTH, sparkline
from offdiag_web.urls.reports import ReportAddress
from support.drawings import parsed


@given(st.lists(st.none() | st.floats(-1e300, 1e300), max_size=26))
def test_a_line_of_values_stays_inside_its_picture(values: list[float | None]) -> None:
    for x, y in parsed(sparkline(values, name="line")).points:
        assert 0 <= x <= SPARKLINE_WIDTH
        assert 0 <= y <= SPARKLINE_HEIGHT


@given(st.text(min_size=1).filter(lambda name: name.isprintable()))
def test_every_name_can_be_read_back_from_its_address(name: str) -> None:
    path = ReportAddress("default", name).edition_url(1)

    _, reports, segment, number = path.split("/")
    assert (reports, number) == ("reports", "1")
    assert name_from_path(unquote(segment)) == name


@given(label=st.text(), limit=st.floats(allow_nan=False, allow_infinity=False))
def test_an_alert_on_any_class_can_be_written_in_a_line_and_read_back(
    label: str, limit: float
) -> None:
    condition = Condition("recall", Side.BELOW, limit, label)

    text = alert_text(condition)

    assert alert_condition(text) == condition
    assert "\n" not in text


NAMES = st.text(min_size=1).filter(lambda name: name.isprintable() and name == name.strip())


@given(name=NAMES, value=NAMES, limit=st.floats(-1e9, 1e9), over=st.sampled_from(["worst", "gap"]))
def test_an_alert_on_any_slice_or_column_can_be_written_and_read_back(
    name: str, value: str, limit: float, over: Literal["worst", "gap"]
) -> None:
    part = str(Slice((SliceTerm(name, value),)))
    for condition in (
        Condition("recall", Side.BELOW, limit, "df", slice=part),
        Condition("recall", Side.ABOVE, limit, "df", over=over, by=name),
    ):
        assert alert_condition(alert_text(condition)) == condition
