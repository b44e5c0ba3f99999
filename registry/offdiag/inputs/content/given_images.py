"""Converting images of users (bytes, files, arrays, Pillow images) to the bytes of a file.

Arrays are encoded as PNG without a library, so that training jobs can log them without one.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput, TooLarge

MOST_BYTES = 10 << 20
"""Size limit of one image in bytes, as it is given."""

_COLOURS = {1: 0, 3: 2, 4: 6}
"""Colour type of a PNG by number of channels: grey, RGB, RGB with transparency."""


def image_file(given: object) -> bytes:
    """The bytes of an image file.

    `given` is bytes, a path, a Pillow image, or an array of shape (h, w), (h, w, 1), (h, w, 3)
    or (h, w, 4): whole numbers from 0 to 255, or fractions from 0 to 1. Raises `InvalidInput`
    for anything else, and `TooLarge` above `MOST_BYTES`.
    """
    data = _bytes_of(given)
    if len(data) > MOST_BYTES:
        raise TooLarge(
            f"an image has {len(data):,} bytes.",
            field="images",
            hint=f"Send at most {MOST_BYTES >> 20} MiB; only thumbnails are stored anyway.",
        )
    return data


def _bytes_of(given: Any) -> bytes:
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given)
    if isinstance(given, (str, os.PathLike)):
        try:
            with Path(given).open("rb") as file:
                return file.read(MOST_BYTES + 1)
        except OSError as error:
            raise InvalidInput(
                f"{os.fspath(given)!r} cannot be read: {error.strerror or error}.",
                field="images",
                hint="Give bytes, arrays, Pillow images or paths of image files."
                if "://" not in str(given)
                else "show_samples(images=) shows images from their addresses.",
            ) from None
    is_picture = hasattr(given, "save") and hasattr(given, "convert")
    # Pillow would cut floats to whole numbers.
    if is_picture and given.mode != "F":
        from offdiag.inputs.content.images import upright_rgb

        stream = io.BytesIO()
        upright_rgb(given).save(stream, "PNG")
        return stream.getvalue()
    return png_of(_pixels(given))


def _pixels(given: Any) -> NDArray[np.uint8]:
    """An array of whole numbers of shape (h, w, channels)."""
    pixels = np.asarray(given)
    if pixels.ndim == 2:
        pixels = pixels[..., np.newaxis]
    if pixels.ndim != 3 or pixels.shape[-1] not in _COLOURS or 0 in pixels.shape:
        raise InvalidInput(
            f"an image of shape {np.shape(given)} cannot be shown.",
            field="images",
            hint="Give (height, width) for grey, (height, width, 3) for RGB.",
        )
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * np.uint8(255)
    is_fraction = pixels.dtype.kind == "f"
    if pixels.dtype.kind not in "iuf" or not np.isfinite(pixels).all():
        raise _not_pixels(pixels)
    low, high = float(pixels.min()), float(pixels.max())
    if low < 0 or high > (1 if is_fraction else 255):
        raise _not_pixels(pixels)
    if is_fraction:
        pixels = np.rint(pixels * 255)
    return pixels.astype(np.uint8)


def _not_pixels(pixels: NDArray[Any]) -> InvalidInput:
    return InvalidInput(
        f"an image has values of type {pixels.dtype} that are not pixels.",
        field="images",
        hint="Give whole numbers from 0 to 255, or fractions from 0 to 1.",
    )


def png_of(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG of pixels (h, w, channels), with 1, 3 or 4 channels (ISO/IEC 15948)."""
    height, width, channels = pixels.shape
    no_filter = np.zeros((height, 1), np.uint8)
    rows = np.concatenate([no_filter, pixels.reshape(height, width * channels)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in (
            (b"IHDR", header),
            (b"IDAT", zlib.compress(rows.tobytes(), 6)),
            (b"IEND", b""),
        )
    )
