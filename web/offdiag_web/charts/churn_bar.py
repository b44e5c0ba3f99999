"""How many examples two runs get right together, alone, or not: one bar of four lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag_web.charts.svg import coordinate, drawing

WIDTH, HEIGHT = 560, 28
_NARROWEST = 3.0
_LETTER_ROOM = 16.0


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of the bar; `letter` is drawn where there is room."""

    count: int
    css_class: str
    letter: str = ""


def churn_bar(segments: Sequence[Segment], *, name: str) -> Markup:
    """Draw the segments side by side; one with any example is at least three pixels wide."""
    total = sum(segment.count for segment in segments)
    if total <= 0:
        raise ValueError("a bar needs at least one example")
    parts, x = [], 0.0
    for segment, width in zip(segments, _widths(segments, total), strict=True):
        if width > 0:
            parts.append(
                f'<rect class="{segment.css_class}" x="{coordinate(x)}" '
                f'width="{coordinate(width)}" height="{HEIGHT}"/>'
            )
            if segment.letter and width >= _LETTER_ROOM:
                parts.append(
                    f'<text class="on-{segment.css_class}" x="{coordinate(x + width / 2)}" '
                    f'y="{HEIGHT / 2 + 4:g}" text-anchor="middle">{segment.letter}</text>'
                )
        x += width
    return drawing(*parts, width=WIDTH, height=HEIGHT, css_class="churn-bar", name=name)


def _widths(segments: Sequence[Segment], total: int) -> list[float]:
    """Widths that add up to the whole bar; the widest ones give what the narrowest need."""
    widths = [WIDTH * segment.count / total for segment in segments]
    narrow = [0 < width < _NARROWEST for width in widths]
    missing = sum(_NARROWEST - width for width, is_so in zip(widths, narrow, strict=True) if is_so)
    room = sum(width for width, is_so in zip(widths, narrow, strict=True) if not is_so)
    shrunk = (room - missing) / room
    return [
        _NARROWEST if is_so else width * shrunk
        for width, is_so in zip(widths, narrow, strict=True)
    ]
