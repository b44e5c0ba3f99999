"""Images are decoded by a process of their own, which an image may bring down alone."""

from __future__ import annotations

import io
import signal
import struct
import subprocess
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from offdiag.errors import InvalidInput, TooLarge
from offdiag.inputs.content import image_reader
from offdiag.inputs.content import images as decoding
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.images import MOST_PIXELS, decoded_images, stored_image


def noise(width: int, height: int, form: str = "PNG") -> bytes:
    pixels = np.random.default_rng(3).integers(0, 256, (height, width, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, form)
    return stream.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A PNG of as many pixels with transparency, all alike, in a few kilobytes."""
    rows = zlib.compress(bytes((1 + 4 * width) * height), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    )


def test_each_sample_gets_what_decoding_its_image_gives() -> None:
    files = {
        "digit": image_file([[0, 255], [7, 8]]),
        "photo": noise(700, 300, "JPEG"),
        "middle": noise(150, 90),
    }

    found = decoded_images(files)

    assert found == {name: stored_image(data) for name, data in files.items()}
    assert list(found) == list(files)
    assert decoded_images({}) == {}


def test_the_largest_image_fits_into_the_bound_of_memory() -> None:
    edge = int(MOST_PIXELS**0.5)

    found = decoded_images({"large": bomb(edge, edge)})

    assert found["large"].image is not None


@pytest.mark.parametrize(
    ("image", "error", "said"),
    [
        (lambda: noise(40, 40)[:300], InvalidInput, "cannot be decoded"),
        (lambda: bomb(8_000, 8_000), TooLarge, "8000 x 8000 pixels"),
    ],
    ids=["half an image", "bomb"],
)
def test_a_bad_image_is_refused_with_its_sample(
    image: Callable[[], bytes], error: type[InvalidInput], said: str
) -> None:
    with pytest.raises(error, match=f"sample 'b'.*{said}") as refused:
        decoded_images({"a": noise(9, 9), "b": image(), "c": noise(9, 9)})

    assert (refused.value.field, type(refused.value)) == ("images", error)


def test_too_little_memory_is_an_error_of_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    # The process may have what it needs to start, and not as much as a large image takes.
    started_with(monkeypatch, "reader._MOST_MEMORY = 260 << 20")
    edge = int(MOST_PIXELS**0.5)

    with pytest.raises(InvalidInput, match="sample 'b'") as refused:
        decoded_images({"a": noise(9, 9), "b": bomb(edge, edge)})

    assert refused.value.field == "images"


def test_an_image_that_hangs_ends_its_process_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoding, "MOST_SECONDS", 3)
    hangs = "import time; made = reader.stored_image\n"
    hangs += "reader.stored_image = lambda data: made(data) if len(data) > 100 else time.sleep(60)"
    started_with(monkeypatch, hangs)

    with pytest.raises(InvalidInput, match=r"sample 'b'.*took more than 3 s"):
        decoded_images({"a": noise(20, 20), "b": image_file([[1]])})


def test_an_image_that_crashes_its_decoder_ends_its_process_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crashes = "import os; made = reader.stored_image\n"
    crashes += f"reader.stored_image = lambda data: os.kill(os.getpid(), {int(signal.SIGSEGV)})"
    started_with(monkeypatch, crashes)

    with pytest.raises(InvalidInput, match="sample 'a': the process that decodes its image ended"):
        decoded_images({"a": noise(9, 9)})


def started_with(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """The next readers run a line of Python before they begin."""
    run = subprocess.run
    program = f"import sys, {image_reader.__name__} as reader\n{change}\nsys.exit(reader.main())"

    def started(command: list[str], **options: Any) -> Any:
        return run([*command[:2], "-c", program], **options)  # As above.

    monkeypatch.setattr(subprocess, "run", started)
