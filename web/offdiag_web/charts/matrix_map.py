"""A confusion matrix of many classes as a picture: one pixel a cell, enlarged without blur."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from offdiag_web.palette import BINS, RAMPS, Theme

EMPTY = 0
"""Code of a cell without cases; 1 to 11 are the steps of correct cells, 12 to 22 of errors."""
PALETTE_VERSION = 1
_EMPTY_COLOURS: dict[Theme, str] = {"light": "#f4f6f8", "dark": "#191f27"}


def step_codes(
    correct: NDArray[np.bool_], steps: NDArray[np.int64], filled: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Codes of cells from their ramp, their step in it and whether they hold cases; (K, K)."""
    codes = np.where(correct, 1 + steps, 1 + BINS + steps)
    return np.where(filled, codes, EMPTY).astype(np.uint8)


def map_png(codes: NDArray[np.uint8], *, theme: Theme, pixels: int = 1) -> bytes:
    """A palette PNG of codes (K, K), the first axis downwards, `pixels` a side for each cell."""
    from PIL import Image

    size = tuple(pixels * side for side in reversed(codes.shape))
    picture = Image.frombytes("P", codes.shape[::-1], np.ascontiguousarray(codes).tobytes())
    picture.putpalette(_palette(theme))
    if pixels > 1:
        picture = picture.resize(size, Image.Resampling.NEAREST)
    written = io.BytesIO()
    # Compressing as well as it goes takes ten times as long and saves a sixth.
    picture.save(written, format="PNG")
    return written.getvalue()


def _palette(theme: Theme) -> bytes:
    colours = (_EMPTY_COLOURS[theme], *RAMPS[theme]["correct"], *RAMPS[theme]["error"])
    return b"".join(bytes.fromhex(colour[1:]) for colour in colours)
