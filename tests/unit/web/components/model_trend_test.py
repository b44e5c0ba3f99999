"""Moments below the trend of a dataset say as much as tells them apart."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from offdiag_web.charts.svg import UNIT, Extent, Scale
from offdiag_web.components.model_marks import NO_MODEL, ModelMark, model_marks
from offdiag_web.components.model_trend import MOST_BANDS, TrendPoint, model_trend
from support.drawings import Drawing, parsed, points_of

FIRST = datetime(2026, 11, 28, 22, 30, 50, tzinfo=UTC)


def point(model: ModelMark, after: timedelta, estimate: float = 0.8) -> TrendPoint:
    extent = Extent(estimate, estimate - 0.1, estimate + 0.1)
    return TrendPoint(f"r_{after}", model, FIRST + after, extent, f"run after {after}")


def drawn(points: list[TrendPoint], scale: Scale = UNIT) -> Drawing:
    return parsed(model_trend(points, scale=scale, metric="MCC", name="MCC over time"))


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
    found = drawn([point(NO_MODEL, timedelta(0)), point(NO_MODEL, span)])

    moments = [
        part.text
        for part in found.root
        if part.get("class") == "tick" and part.get("text-anchor") == "middle"
    ]
    assert (moments[0], moments[-1]) == (first, last)


def test_runs_without_a_model_are_points_alone() -> None:
    for mark, n_lines in ((NO_MODEL, 0), (model_marks(["net"])["net"], 1)):
        found = drawn([point(mark, timedelta(days=day)) for day in range(3)])

        classes = [part.get("class", "") for part in found.root.iter()]
        assert classes.count("line") == n_lines
        assert classes.count(f"band {mark.css_class}") == n_lines
        assert classes.count(f"bar {mark.css_class}") == 1 - n_lines
        assert classes.count("point") == 3


def test_points_stand_at_their_moments_and_models_have_lines_of_their_own() -> None:
    marks = model_marks(["net", "tree"])
    found = drawn(
        [
            point(marks["net"], timedelta(0), 0.5),
            point(marks["tree"], timedelta(days=3), 0.7),
            point(marks["net"], timedelta(days=9), 0.9),
        ],
        Scale(Decimal("0.4"), Decimal(1)),
    )

    (line,) = (part for part in found.root.iter() if part.get("class") == "line")
    (first, low), (last, high) = points_of(line)
    assert low > high
    (bar,) = (part for part in found.root.iter() if part.get("class") == "bar model-2")
    assert points_of(bar)[0][0] == pytest.approx(first + (last - first) / 3, abs=0.1)
    assert found.texts("axis-name") == ["MCC, 95 % CI"]
    assert {"0.4", "1"} <= set(found.texts("tick"))


def test_more_models_than_bands_can_show_have_bars() -> None:
    marks = model_marks([f"model {at}" for at in range(MOST_BANDS + 1)])
    found = drawn(
        [
            point(mark, timedelta(days=day))
            for day in range(2)
            for name, mark in marks.items()
            if name
        ]
    )

    bars = [part for part in found.root if (part.get("class") or "").startswith("bar")]
    assert len(bars) == MOST_BANDS + 1
    assert all((bar.get("d") or "").count("M") == 2 for bar in bars)
