"""Decoding untrusted images within limits and encoding them again; the file is never stored.

Anyone who may log can feed the decoder. It reads three formats only, none of which runs a program
or refers to other files, and no more pixels than fit in a limited amount of memory. The output has
no metadata, so it reveals neither a place nor a camera. Decoding runs in a process of its own, so
that an image can crash only that.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from offdiag.errors import InvalidInput, TooLarge
from offdiag.extras import optional

if TYPE_CHECKING:
    from PIL.Image import Image


FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 24_000_000
"""Limit on the pixels of a decoded image: about 100 MB with four channels."""
THUMBNAIL_SIZE = 160
IMAGE_SIZE = 640
"""Longer edge in pixels of stored images; smaller images are stored pixel by pixel."""
LENGTH = struct.Struct(">I")
"""Length of a file in bytes, before each file in the input of the decoding process."""
RESULT = struct.Struct(">?II")
"""Whether it is PNG, and the bytes of thumbnail and image, before each result in its output."""
_PIXEL_ART = 96
"""Images up to this edge are stored without loss: a blurred digit is a different digit."""
_QUALITY = 85
# What decoders raise for damaged files, found by trying files with changed bytes.
_BROKEN = (
    *(OSError, SyntaxError, ValueError, TypeError, IndexError, KeyError, AttributeError),
    *(EOFError, OverflowError, ZeroDivisionError, NotImplementedError),
    *(struct.error, zlib.error),
)


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image as it is stored; `image` is None if the thumbnail has all its pixels."""

    digest: str
    media_type: str
    thumbnail: bytes
    image: bytes | None


def stored_image(data: bytes) -> StoredImage:
    """Decode a PNG, JPEG or WebP file and encode it again in one or two sizes.

    `digest` is that of `data`. Raises `InvalidInput` for other or damaged files, `TooLarge` above
    `MOST_PIXELS`, and `MissingExtra` without Pillow.
    """
    with optional:
        from PIL import Image
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            _require_few_pixels(opened.size)
            # A large JPEG is decoded at a half, a quarter or an eighth of its size.
            opened.draft("RGB", (IMAGE_SIZE, IMAGE_SIZE))
            picture = upright_rgb(opened)
    except TooLarge:
        raise
    except (*_BROKEN, Image.DecompressionBombError) as error:
        raise InvalidInput(
            f"an image cannot be decoded ({type(error).__name__}).",
            field="images",
            hint="Send whole PNG, JPEG or WebP files. SVG is not accepted: it can hold scripts.",
        ) from None
    exact = max(picture.size) <= _PIXEL_ART
    media_type = "image/png" if exact else "image/jpeg"
    is_larger = max(picture.size) > THUMBNAIL_SIZE
    return StoredImage(
        digest=hashlib.sha256(data).hexdigest(),
        media_type=media_type,
        thumbnail=_encoded(picture, THUMBNAIL_SIZE, exact=exact),
        image=_encoded(picture, IMAGE_SIZE, exact=exact) if is_larger else None,
    )


def _require_few_pixels(size: tuple[int, int]) -> None:
    width, height = size
    if width * height > MOST_PIXELS:
        raise TooLarge(
            f"an image has {width} x {height} pixels.",
            field="images",
            hint=f"Send at most {MOST_PIXELS // 10**6} million pixels.",
        )


def upright_rgb(opened: Image) -> Image:
    """The pixels as they are meant to be seen, on white if they are transparent."""
    from PIL import Image, ImageOps

    opened.load()
    upright = ImageOps.exif_transpose(opened)
    if upright.mode in {"L", "1"}:
        return upright.convert("L")
    if upright.mode.startswith("I;16") or upright.mode == "I":
        # Medical images often have 16 bits; screens show the upper eight.
        return upright.point(lambda value: value / 256).convert("L")
    if "A" in upright.getbands() or "transparency" in upright.info:
        layered = upright.convert("RGBA")
        white = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(white, layered).convert("RGB")
    return upright.convert("RGB")


def _encoded(picture: Image, size: int, *, exact: bool) -> bytes:
    smaller = picture.copy()
    smaller.thumbnail((size, size))
    stream = io.BytesIO()
    if exact:
        smaller.save(stream, "PNG", optimize=True)
    else:
        smaller.save(stream, "JPEG", quality=_QUALITY, optimize=True)
    return stream.getvalue()


_READER = "offdiag.inputs.content.image_reader"
_REFUSED = 3
"""Exit code of the reader when it reports what is wrong."""
MOST_SECONDS = 60
_KINDS = {kind.code: kind for kind in (InvalidInput, TooLarge)}


def decoded_images(files: Mapping[str, bytes]) -> dict[str, StoredImage]:
    """Decode the image files of samples and encode them again, as `stored_image` does.

    One process decodes all of them, with limits on memory and time. Raises `InvalidInput` for a
    file that is not an image or crashes its decoder, and `TooLarge`; both name the sample.
    """
    if not files:
        return {}
    with optional:
        import PIL  # noqa: F401  # Without it, a process need not be started to say so.
    try:
        done = subprocess.run(  # noqa: S603  # A fixed command; the images are its input.
            [sys.executable, "-P", "-m", _READER],
            input=b"".join(LENGTH.pack(len(data)) + data for data in files.values()),
            capture_output=True,
            timeout=MOST_SECONDS,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired as error:
        why = f"took more than {MOST_SECONDS} s"
        raise _brought_down(_name_after(files, error.stdout or b""), why) from None
    if done.returncode == 0:
        return _made_of(files, done.stdout)
    name = _name_after(files, done.stdout)
    if done.returncode == _REFUSED:
        said = json.loads(done.stderr.splitlines()[-1])
        raise _KINDS[said["code"]](
            f"sample {name!r}: {said['message']}", field=said["field"], hint=said["hint"]
        )
    raise _brought_down(name, "ended")


def _made_of(files: Mapping[str, bytes], output: bytes) -> dict[str, StoredImage]:
    results = _results(output)
    return {
        name: StoredImage(hashlib.sha256(data).hexdigest(), *result)
        for (name, data), result in zip(files.items(), results, strict=True)
    }


def _results(output: bytes) -> list[tuple[str, bytes, bytes | None]]:
    """Media type, thumbnail and larger image of each complete result in the reader's output."""
    found = []
    at = 0
    while at + RESULT.size <= len(output):
        is_png, n_thumbnail, n_image = RESULT.unpack_from(output, at)
        begin = at + RESULT.size
        middle, end = begin + n_thumbnail, begin + n_thumbnail + n_image
        if end > len(output):
            break
        media_type = "image/png" if is_png else "image/jpeg"
        found.append((media_type, output[begin:middle], output[middle:end] or None))
        at = end
    return found


def _name_after(files: Mapping[str, bytes], output: bytes) -> str:
    """The sample whose image was being decoded when the output ended."""
    return list(files)[min(len(_results(output)), len(files) - 1)]


def _brought_down(name: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"sample {name!r}: the process that decodes its image {what}.",
        field="images",
        hint="Save the image with another program, or send fewer, smaller ones.",
    )
