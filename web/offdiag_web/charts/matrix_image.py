"""A confusion matrix with very many classes as a PNG image, one colour for each cell."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from offdiag.palette import BINS, RAMPS, Theme

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
