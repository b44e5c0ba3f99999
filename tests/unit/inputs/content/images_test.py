"""Images come in as people hold them and are stored as offdiag encoded them, within bounds."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from offdiag.errors import InvalidInput, TooLarge
from offdiag.inputs.content.given_images import MOST_BYTES, image_file, png_of
from offdiag.inputs.content.images import IMAGE_SIZE, MOST_PIXELS, THUMBNAIL_SIZE, stored_image


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def encoded(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


@given(
    st.tuples(st.integers(1, 20), st.integers(1, 20), st.sampled_from([1, 3, 4])),
    st.integers(0, 2**32 - 1),
)
def test_an_array_becomes_the_picture_of_its_pixels(
    shape: tuple[int, int, int], seed: int
) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)

    found = np.asarray(opened(png_of(pixels)))

    assert found.reshape(shape).tolist() == pixels.tolist()


@pytest.mark.parametrize(
    "held",
    [
        np.array([[0.0, 1.0]]),
        np.array([[False, True]]),
        np.array([[[0], [255]]], dtype=np.int64),
        Image.fromarray(np.array([[0, 255]], dtype=np.uint8)),
    ],
    ids=["fractions", "booleans", "one channel", "Pillow"],
)
def test_the_same_picture_is_the_same_however_it_is_held(held: object) -> None:
    assert np.asarray(opened(image_file(held)).convert("L")).tolist() == [[0, 255]]


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"anything")
    assert image_file(tmp_path / "a.png") == b"anything"
    with pytest.raises(InvalidInput, match="No such file"):
        image_file(str(tmp_path / "b.png"))


@pytest.mark.parametrize(
    "held",
    [
        np.zeros((2, 2, 2)),
        np.zeros(4),
        np.zeros((0, 4)),
        np.array([[300]]),
        np.array([[-1]]),
        np.array([[1.5]]),
        np.array([[np.nan]]),
        np.array([["a"]]),
        None,
    ],
    ids=repr,
)
def test_what_is_no_picture_is_refused(held: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        image_file(held)
    assert refused.value.field == "images"
    assert refused.value.hint


def test_a_file_of_many_bytes_is_refused() -> None:
    with pytest.raises(TooLarge, match="bytes"):
        image_file(b"x" * (MOST_BYTES + 1))


def test_a_small_picture_is_kept_pixel_by_pixel() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8), dtype=np.uint8)

    found = stored_image(image_file(pixels))

    assert (found.media_type, found.image) == ("image/png", None)
    assert np.asarray(opened(found.thumbnail)).tolist() == pixels.tolist()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_large_picture_is_stored_in_two_sizes(form: str) -> None:
    found = stored_image(encoded(Image.new("RGB", (2_000, 1_000), "red"), form))

    assert found.media_type == "image/jpeg"
    assert opened(found.thumbnail).size == (THUMBNAIL_SIZE, THUMBNAIL_SIZE // 2)
    assert found.image is not None
    assert opened(found.image).size == (IMAGE_SIZE, IMAGE_SIZE // 2)
    red, green, blue = opened(found.image).convert("RGB").getpixel((9, 9))  # type: ignore[misc]
    assert (red > 240, green < 15, blue < 15) == (True, True, True)


def test_nothing_but_pixels_is_left_of_a_file() -> None:
    sideways = Image.new("RGB", (200, 100), "white")
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "taken at home"
    data = encoded(sideways, "JPEG", exif=exif) + b"<script>alert(1)</script>"

    found = stored_image(data)

    assert opened(found.thumbnail).size == (80, 160)  # Upright, as the camera meant it.
    for kept in (found.thumbnail, found.image or b""):
        assert b"script" not in kept
        assert b"home" not in kept
        assert not opened(kept).getexif()


def test_what_is_transparent_is_shown_on_white() -> None:
    found = stored_image(encoded(Image.new("RGBA", (4, 4), (255, 0, 0, 0))))
    assert opened(found.thumbnail).convert("RGB").getpixel((1, 1)) == (255, 255, 255)


def test_the_upper_bits_of_a_deep_picture_are_shown() -> None:
    deep = Image.fromarray(np.array([[0, 0x8000, 0xFFFF]], dtype=np.uint16))
    found = np.asarray(opened(stored_image(encoded(deep)).thumbnail))
    assert found.tolist() == [[0, 128, 255]]


def bomb(width: int, height: int) -> bytes:
    """A small PNG that promises many pixels."""

    def part(kind: bytes, content: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", header)
        + part(b"IDAT", zlib.compress(bytes(1_000_000)))
        + part(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(50_000, 50_000), (MOST_PIXELS + 1, 1), (2**31 - 1, 2**31 - 1)])
def test_more_pixels_than_memory_is_meant_for_are_never_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(InvalidInput) as refused:
        stored_image(bomb(*size))
    assert refused.value.hint


WHOLE = encoded(Image.new("RGB", (64, 64), "blue"))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        WHOLE[: len(WHOLE) // 2],
        encoded(Image.new("RGB", (8, 8)), "GIF"),
        encoded(Image.new("RGB", (8, 8)), "BMP"),
        encoded(Image.new("RGB", (8, 8)), "TIFF"),
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    ],
    ids=["nothing", "text", "SVG", "half", "GIF", "BMP", "TIFF", "EPS"],
)
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="decoded"):
        stored_image(data)


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255))
def test_a_damaged_file_is_stored_as_pixels_or_refused(place: int, byte: int) -> None:
    data = WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :]
    try:
        found = stored_image(data)
    except InvalidInput:
        return
    opened(found.thumbnail).load()


def test_a_picture_of_pillow_is_seen_as_its_file_is() -> None:
    photo = Image.new("RGB", (40, 20), "red")
    exif = photo.getexif()
    exif[0x0112] = 6  # The camera was turned.
    lying = Image.open(io.BytesIO(encoded(photo, "JPEG", exif=exif)))
    clear = Image.new("P", (1, 1))
    clear.info["transparency"] = 0

    assert opened(image_file(lying)).size == (20, 40)
    for held, grey in (
        (Image.fromarray(np.full((1, 1), 30_000, dtype=np.uint16)), 117),
        (Image.fromarray(np.full((1, 1), 0.5, dtype=np.float32)), 128),
        (clear, 255),
    ):
        assert np.asarray(opened(image_file(held)).convert("L")).tolist() == [[grey]]


def test_an_address_is_no_path() -> None:
    with pytest.raises(InvalidInput, match=r"show_samples\(images=\) shows images from their"):
        image_file("https://images.example.org/a.png")
