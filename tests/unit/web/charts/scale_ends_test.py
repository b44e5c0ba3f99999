"""The ends of a scale are printed under the ends of its picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import offdiag_web
from offdiag_web.charts.marks import IN_PANEL, IN_TABLE, IN_TILE, Canvas
from offdiag_web.pages.compare import metric_differences

STYLES = Path(offdiag_web.__file__).parent / "static" / "css"


@pytest.mark.parametrize(
    ("sheet", "pattern", "canvas"),
    [
        ("components", r"var\(--mark-width, (\d+)px\)", IN_TABLE),
        ("components", r"\.ends-tile \{ --mark-width: (\d+)px; \}", IN_TILE),
        ("components", r"\.ends-panel \{ --mark-width: (\d+)px; \}", IN_PANEL),
        (
            "comparison",
            r"\.ends-difference \{ --mark-width: (\d+)px; \}",
            metric_differences._CANVAS,
        ),
    ],
)
def test_the_labels_are_as_wide_as_the_picture(sheet: str, pattern: str, canvas: Canvas) -> None:
    style = (STYLES / f"{sheet}.css").read_text(encoding="utf-8")

    (width,) = re.findall(pattern, style)

    assert int(width) == canvas.width
