"""Colours of pictures: two ramps of shares, run colours and greys, on a white page.

The ramps are those of the dashboard in its light theme (a test compares them): even steps of
lightness in OKLCH, so that more ink is more also in greyscale and for colour-blind readers.
"""

from __future__ import annotations

CORRECT = (
    *("#f8fafd", "#d9eaf9", "#bcd9f3", "#a1c7ec", "#88b6e3", "#70a4d9"),
    *("#5992ce", "#4480c1", "#316eb2", "#1e5da3", "#0b4c92"),
)
"""Steps 0 to 10 of the ramp of correct answers."""
ERROR = (
    *("#fcfaf7", "#f6e5d2", "#f0d1b1", "#e9bc92", "#e1a676", "#d8915c"),
    *("#ce7c44", "#c3672f", "#b5521b", "#a63e08", "#942d02"),
)
"""Steps 0 to 10 of the ramp of errors."""
STEPS = len(CORRECT)

PAGE = "#ffffff"
INK = "#16202c"
QUIET_INK = "#66727f"
"""Grey that can still be read on the page: contrast 4.9."""
RULE = "#d5dbe2"
"""Lines and bars that carry no value of their own."""

LINES = ("#0b4c92", "#a63e08", "#16202c", "#7a5195")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
"""Lines differ in colour and dash, never in colour alone."""


def text_on(background: str) -> str:
    """Black or white, whichever is easier to read; both contrasts are those of WCAG 2.2."""
    # The contrasts with white and black are equal at this luminance: sqrt(1.05 * 0.05) - 0.05.
    return "#000000" if luminance(background) > 0.179 else "#ffffff"


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` in 0..1, as WCAG 2.2 defines it."""
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
