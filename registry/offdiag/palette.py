"""The colour ramps for shares, one for correct cells and one for errors, in both themes.

Built in OKLCH so that lightness changes steadily: in light themes from the page towards ink, in
dark themes from the page towards light. "More ink is more" holds in both, also in greyscale and in
print. Everything coloured by a share (pages, maps, pictures, notebook cards) takes its colours
from here.
"""

from __future__ import annotations

import math
from typing import Literal

Theme = Literal["light", "dark"]
Ramp = Literal["correct", "error"]

BINS = 11
"""Steps of a ramp: bin 0 is almost nothing, bin 10 the end of the scale."""

RAMPS: dict[Theme, dict[Ramp, tuple[str, ...]]] = {
    "light": {
        "correct": (
            *("#f8fafd", "#d9eaf9", "#bcd9f3", "#a1c7ec", "#88b6e3", "#70a4d9"),
            *("#5992ce", "#4480c1", "#316eb2", "#1e5da3", "#0b4c92"),
        ),
        "error": (
            *("#fcfaf7", "#f6e5d2", "#f0d1b1", "#e9bc92", "#e1a676", "#d8915c"),
            *("#ce7c44", "#c3672f", "#b5521b", "#a63e08", "#942d02"),
        ),
    },
    "dark": {
        "correct": (
            *("#171b1f", "#1c2a37", "#21394f", "#264966", "#2b5a7e", "#316c96"),
            *("#377eac", "#4090c3", "#4aa3d8", "#58b6ec", "#69caff"),
        ),
        "error": (
            *("#1f1917", "#38221a", "#4f2d1b", "#67381b", "#7e4519", "#955316"),
            *("#ab6212", "#bf7312", "#d38619", "#e59927", "#f5ae39"),
        ),
    },
}

BLACK = "#000000"
WHITE = "#ffffff"


def relative_luminance(colour: str) -> float:
    """Luminance of `#rrggbb` in 0..1, as WCAG 2.2 defines it."""
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours, 1 (equal) to 21, as WCAG 2.2 defines it."""
    lighter, darker = sorted((relative_luminance(first), relative_luminance(second)))[::-1]
    return (lighter + 0.05) / (darker + 0.05)


def text_on(background: str) -> str:
    """Black or white, whichever is easier to read.

    Only pure black and white will do: with the softer ink of the page, one step of each ramp would
    fall below a contrast of 4.5.
    """
    return max((BLACK, WHITE), key=lambda ink: contrast(ink, background))


SMALLEST_ERROR_END = 0.25
"""The error scale reaches at least this share of a class, so that few errors look like few."""


def correct_step(share: float, end: float) -> int:
    """Step of a correct cell on a linear scale from 0 to `end`."""
    return _step(share / end)


def error_step(share: float, end: float) -> int:
    """Step of an error on a scale from 0 to `end` that grows with the square root.

    On the same scale as correct cells, the errors of a good model would be too pale to see.
    """
    return _step(math.sqrt(share / end))


def _step(fraction: float) -> int:
    """Step of a fraction above 0 and up to 1; at least 1, so that few do not look like none."""
    return max(1, min(BINS - 1, round(fraction * (BINS - 1))))
