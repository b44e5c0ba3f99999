"""Names and letters beside points."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from offdiag_web.charts.plot import Frame
from offdiag_web.charts.svg import Extent
from offdiag_web.components.model_marks import ModelMark
from offdiag_web.pages.datasets.scatter import PHONE, Axes, Dot, Name, placed_names, scatter

FRAME = Frame(left=50, top=20, width=300, height=200)
_ON_A_PHONE = 9.2


def test_a_name_stays_inside_where_letters_are_large() -> None:
    (text,) = placed_names(
        [Name("champion vit", 250, 100)], FRAME, points=[(250, 100)], letters=PHONE
    )

    x = float(re.search(r'x="([\d.]+)"', text)[1])  # type: ignore[index]
    assert 'text-anchor="end"' in text
    assert x - _ON_A_PHONE * len("champion vit") >= FRAME.left


def test_a_name_does_not_stand_on_a_line_of_text() -> None:
    at = (200.0, 100.0)
    (free,) = placed_names([Name("vit", *at)], FRAME, points=[at])
    y = float(re.search(r' y="([\d.]+)"', free)[1])  # type: ignore[index]

    (moved,) = placed_names([Name("vit", *at)], FRAME, points=[at], lines=[(60, 340, y)])

    assert moved != free
    assert f'y="{y:g}"' not in moved


def test_a_name_does_not_lie_on_the_interval_of_another_run() -> None:
    at = (200.0, 100.0)
    (free,) = placed_names([Name("vit", *at)], FRAME, points=[at])
    y = float(re.search(r' y="([\d.]+)"', free)[1])  # type: ignore[index]

    (moved,) = placed_names([Name("vit", *at)], FRAME, points=[at], bars=[(60, 340, y - 4)])

    assert float(re.search(r' y="([\d.]+)"', moved)[1]) > at[1] + 10  # type: ignore[index]


def test_a_name_is_left_out_where_it_might_belong_to_another_point() -> None:
    crowd = [(x, y) for x in range(60, 350, 12) for y in range(30, 220, 12)]
    own = crowd[len(crowd) // 2]

    assert placed_names([Name("vit", *own)], FRAME, points=crowd) == []


def test_a_written_name_is_clearly_nearer_to_its_own_point_than_to_any_other() -> None:
    rng = np.random.default_rng(3)
    n_written = 0
    for _ in range(50):
        points = [(float(x), float(y)) for x, y in rng.uniform((60, 30), (340, 210), (8, 2))]
        for text in placed_names([Name("vit", *points[0])], FRAME, points=points):
            x, y = (float(re.search(rf' {each}="([\d.]+)"', text)[1]) for each in "xy")  # type: ignore[index]
            left = x - 19 if 'text-anchor="end"' in text else x
            gaps = [
                math.hypot(max(left - px, 0, px - left - 19), max(y - 10 - py, 0, py - y - 3))
                for px, py in points
            ]
            assert min(gaps[1:]) > gaps[0] + 5
            n_written += 1
    assert n_written > 20


def test_a_name_that_is_not_beside_its_point_has_a_line_to_it() -> None:
    at = (200.0, 100.0)
    (beside,) = placed_names([Name("vit", *at)], FRAME, points=[at])
    crowd = [(60.0, 340.0, at[1] + step) for step in (-24, -14, -4, 4, 14, 24)]
    (away,) = placed_names([Name("vit", *at)], FRAME, points=[at], bars=crowd)

    assert "leader" not in beside
    assert f'd="M{at[0]:g} {at[1]:g}L' in away


def test_the_letter_of_a_model_is_beside_the_link_whose_name_does_not_contain_it() -> None:
    fifth = ModelMark("vit", "circle", "b", "model-1")
    dot = Dot(
        mark=fifth,
        across=Extent(0.8, 0.7, 0.9),
        up=0.6,
        is_in_set=False,
        is_champion=False,
        url="/runs/r_1",
        name="",
        description="vit: accuracy 0.800",
    )

    drawn = scatter([dot], Axes("Accuracy", "Recall", shows_minority=False), name="runs")

    link, _, after = drawn.partition("</a>")
    assert 'class="letter"' not in link
    assert ">b</text>" in after


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_axes_of_metrics_end_where_the_metrics_end(value: float) -> None:
    dot = Dot(
        mark=ModelMark("vit", "circle", "", "model-1"),
        across=Extent(value, value, value),
        up=value,
        is_in_set=False,
        is_champion=False,
        url="/runs/r_1",
        name="",
        description="vit",
    )

    axes = Axes("Accuracy", "Recall", True, across_range=(0, 1), up_range=(0, 1))
    drawn = scatter([dot], axes, name="runs")

    ticks = re.findall(r'class="tick"[^>]*>([^<]+)<', drawn)
    assert len(ticks) > 4
    assert all(0 <= float(text.replace("\N{MINUS SIGN}", "-")) <= 1 for text in ticks), ticks
