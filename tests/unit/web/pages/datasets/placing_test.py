"""Names beside points."""

from __future__ import annotations

import re

from offdiag_web.charts.plot import Frame
from offdiag_web.pages.datasets.scatter import Name, placed_names

FRAME = Frame(left=50, top=20, width=300, height=200)
_ON_A_PHONE = 9.2


def test_a_name_stays_inside_where_letters_are_large() -> None:
    (text,) = placed_names([Name("champion vit", 250, 100)], FRAME, points=[(250, 100)])

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
