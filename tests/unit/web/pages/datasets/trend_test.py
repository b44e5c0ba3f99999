"""Moments below the trend of a dataset say as much as tells them apart."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from offdiag_web.charts.svg import Extent
from offdiag_web.components.model_marks import NO_MODEL, model_marks
from offdiag_web.pages.datasets.pictures import ModelTrend, TrendPoint, model_trend

FIRST = datetime(2026, 11, 28, 22, 30, 50, tzinfo=UTC)


@pytest.mark.parametrize(
    ("span", "first", "last"),
    [
        (timedelta(seconds=40), "22:30:50", "22:31:30"),
        (timedelta(hours=1), "22:30", "23:30"),
        (timedelta(hours=4), "28 Nov 22:30", "29 Nov 02:30"),
        (timedelta(days=20), "28 Nov", "18 Dec"),
        (timedelta(days=700), "Nov 2026", "Oct 2028"),
    ],
)
def test_moments_of_a_trend_say_what_tells_them_apart(
    span: timedelta, first: str, last: str
) -> None:
    points = tuple(
        TrendPoint(f"r_{at}", at, Extent(0.8, 0.7, 0.9), "") for at in (FIRST, FIRST + span)
    )

    drawn = model_trend([ModelTrend(NO_MODEL, points)], [], dropped=None, name="MCC over time")

    moments = re.findall(r'text-anchor="middle">([^<]+)</text>', drawn)
    assert (moments[0], moments[-1]) == (first, last)


def test_runs_without_a_model_are_points_alone() -> None:
    points = tuple(
        TrendPoint(f"r_{day}", FIRST + timedelta(days=day), Extent(0.8, 0.7, 0.9), "")
        for day in range(3)
    )
    net = model_marks(["net"])["net"]

    drawn = {
        mark.name: model_trend([ModelTrend(mark, points)], [], dropped=None, name="MCC over time")
        for mark in (NO_MODEL, net)
    }

    assert drawn["net"].count('class="line"') == drawn["net"].count('class="band ') == 1
    assert drawn[None].count('class="line"') == drawn[None].count('class="band ') == 0
    assert drawn[None].count('class="point"') == drawn["net"].count('class="point"') == 3
