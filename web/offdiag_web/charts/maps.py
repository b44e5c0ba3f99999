"""Maps: a metric over recall and specificity, and a matrix with very many classes as a PNG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.palette import BINS, RAMPS, Theme
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


EMPTY = 0
"""Code of a cell without samples; then come the steps of correct cells, and those of errors."""
PALETTE_VERSION = 1
"""Part of the ETag of images; it has to be raised when the colours change."""
_EMPTY_COLOURS: dict[Theme, str] = {"light": "#f4f6f8", "dark": "#191f27"}


def step_codes(
    correct: NDArray[np.bool_], steps: NDArray[np.int64], filled: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Codes of cells from whether they are correct, their step, and whether they have samples.

    All arrays have shape (K, K); steps are from 0 to `BINS` - 1.
    """
    codes = np.where(correct, 1 + steps, 1 + BINS + steps)
    return np.where(filled, codes, EMPTY).astype(np.uint8)


def map_png(codes: NDArray[np.uint8], *, theme: Theme, pixels: int = 1) -> bytes:
    """A palette PNG of codes (K, K), the first axis downwards, `pixels` per side of each cell."""
    from PIL import Image

    size = tuple(pixels * side for side in reversed(codes.shape))
    picture = Image.frombytes("P", codes.shape[::-1], np.ascontiguousarray(codes).tobytes())
    picture.putpalette(_palette(theme))
    if pixels > 1:
        picture = picture.resize(size, Image.Resampling.NEAREST)
    written = io.BytesIO()
    # The best compression takes ten times as long and saves a sixth.
    picture.save(written, format="PNG")
    return written.getvalue()


def _palette(theme: Theme) -> bytes:
    colours = (_EMPTY_COLOURS[theme], *RAMPS[theme]["correct"], *RAMPS[theme]["error"])
    return b"".join(bytes.fromhex(colour[1:]) for colour in colours)
