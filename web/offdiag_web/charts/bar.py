"""A share as the filled part of a rail."""

from __future__ import annotations

from typing import Literal

from markupsafe import Markup

from offdiag_web.charts.svg import coordinate, drawing

_HEIGHT = 12


def share_bar(
    share: float, *, name: str, tone: Literal["plain", "error"] = "plain", width: int = 96
) -> Markup:
    """Draw a share in 0..1; a share above zero fills at least one pixel, so that it shows."""
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is no share")
    filled = max(1.0, share * width) if share > 0 else 0.0
    return drawing(
        f'<rect class="rail-fill" width="{width}" height="{_HEIGHT}" rx="2"/>',
        f'<rect class="fill" width="{coordinate(filled)}" height="{_HEIGHT}" rx="2"/>',
        width=width,
        height=_HEIGHT,
        css_class=f"share-bar share-{tone}",
        name=name,
    )
