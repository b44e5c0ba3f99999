"""A metric as a map over recall and specificity, with runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from offdiag.palette import BINS
from offdiag_web.charts.svg import coordinate, drawing, words

_LEFT, _TOP, _SIDE, _BOTTOM = 46, 10, 300, 40
WIDTH, HEIGHT = _LEFT + _SIDE + 14, _TOP + _SIDE + _BOTTOM
_TICKS = (("0", 0.0), ("0.5", 0.5), ("1", 1.0))


@dataclass(frozen=True, slots=True)
class MarkedRun:
    """A run on the map, identified by its letter."""

    run_label: str
    recall: float
    specificity: float


def bin_of(height: float) -> int:
    """The step of the colour scale for a height in 0..1."""
    return min(BINS - 1, int(height * BINS))


def rate_map_drawing(
    heights: Sequence[Sequence[float | None]],
    runs: Sequence[MarkedRun],
    *,
    name: str,
    ramp: Literal["correct", "error"],
) -> Markup:
    """Draw a square grid of metric values, scaled to heights in 0..1; None where undefined.

    The first axis is the recall, drawn upwards; the second is the specificity, drawn to the right.
    Adjacent fields of one colour become one element, to keep the page small.
    """
    return drawing(
        *_fields(heights, ramp),
        *_axes(),
        *(_marker(run) for run in runs),
        width=WIDTH,
        height=HEIGHT,
        css_class="rate-map",
        name=name,
    )


def _fields(heights: Sequence[Sequence[float | None]], ramp: str) -> list[str]:
    found = []
    size = _SIDE / len(heights)
    for row, line in enumerate(heights):
        y = _TOP + _SIDE - (row + 1) * size
        steps = [None if height is None else bin_of(height) for height in line]
        start = 0
        for column in range(1, len(steps) + 1):
            if column < len(steps) and steps[column] == steps[start]:
                continue
            css = "map-none" if steps[start] is None else f"{ramp}-{steps[start]}"
            found.append(
                f'<rect class="{css}" x="{coordinate(_LEFT + start * size)}" '
                f'y="{coordinate(y)}" width="{coordinate((column - start) * size)}" '
                f'height="{coordinate(size)}"/>'
            )
            start = column
    return found


def _axes() -> list[str]:
    bottom = _TOP + _SIDE
    parts = [f'<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}"/>']
    for text, value in _TICKS:
        x, y = _LEFT + value * _SIDE, bottom - value * _SIDE
        parts.append(words(text, x=x, y=bottom + 16, css_class="tick", anchor="middle"))
        parts.append(words(text, x=_LEFT - 7, y=y + 4, css_class="tick", anchor="end"))
    middle = _LEFT + _SIDE / 2
    parts.append(
        words("specificity →", x=middle, y=HEIGHT - 6, css_class="axis-name", anchor="middle")
    )
    up = coordinate(_TOP + _SIDE / 2)
    parts.append(
        f'<text class="axis-name" transform="translate(13 {up}) rotate(-90)" '
        'text-anchor="middle">recall →</text>'
    )
    return parts


def _marker(run: MarkedRun) -> str:
    x = coordinate(_LEFT + run.specificity * _SIDE)
    y = coordinate(_TOP + _SIDE - run.recall * _SIDE)
    return (
        f'<g class="place"><circle cx="{x}" cy="{y}" r="8"/>'
        f'<text x="{x}" y="{y}" dy="4" text-anchor="middle">{run.run_label}</text></g>'
    )
