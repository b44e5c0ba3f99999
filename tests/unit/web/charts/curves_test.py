"""What the charts of scores say about each mark."""

from __future__ import annotations

import html
import re

from offdiag_web.charts.curves import Spread, spread_drawing


def test_a_bar_of_few_examples_is_not_said_to_be_empty_nor_one_of_most_to_be_all() -> None:
    edges = (0.0, 0.5, 1.0)
    most = Spread("ill", (1 / 40_000, 1 - 1 / 40_000), edges)
    all_of_them = Spread("well", (1.0, 0.0), edges)

    drawn = spread_drawing(most, all_of_them, ticks=(), score_name="score", name="Scores")

    assert [html.unescape(text) for text in re.findall(r'data-read="([^"]*)"', drawn)] == [
        "ill: <0.1 % from 0 to 0.5",
        "ill: >99.9 % from 0.5 to 1",
        "well: 100.0 % from 0 to 0.5",
    ]
