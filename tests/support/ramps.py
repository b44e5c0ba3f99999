"""The colour ramps of `offdiag.palette` as the stylesheet of the dashboard.

`cd tests && python -m support.ramps` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import offdiag_web
from offdiag.palette import BINS, RAMPS, Ramp, text_on

STYLESHEET = Path(offdiag_web.__file__).parent / "static" / "css" / "ramps.css"
_RAMP_NAMES: tuple[Ramp, ...] = ("correct", "error")


def ramp_stylesheet() -> str:
    """Colour of each bin as a token with a light and a dark value, and the classes using them."""
    return "\n".join(
        [
            "/* Written by support.ramps from offdiag.palette; edit that. */",
            ":root {",
            *_tokens(),
            "}",
            *_classes(),
            "",
        ]
    )


def _tokens() -> Iterator[str]:
    for ramp in _RAMP_NAMES:
        for step in range(BINS):
            light, dark = RAMPS["light"][ramp][step], RAMPS["dark"][ramp][step]
            yield f"  --{ramp}-{step}: light-dark({light}, {dark});"
            yield f"  --on-{ramp}-{step}: light-dark({text_on(light)}, {text_on(dark)});"


def _classes() -> Iterator[str]:
    for ramp in _RAMP_NAMES:
        for step in range(BINS):
            bin_, text = f"var(--{ramp}-{step})", f"var(--on-{ramp}-{step})"
            yield f".{ramp}-{step} {{ background: {bin_}; fill: {bin_}; color: {text}; }}"


if __name__ == "__main__":
    STYLESHEET.write_text(ramp_stylesheet(), encoding="utf-8")
