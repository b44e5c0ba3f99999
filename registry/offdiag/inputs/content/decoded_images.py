"""Images of strangers, decoded by a process of their own that they can bring down alone."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping

from offdiag.errors import InvalidInput, TooLarge
from offdiag.extras import optional
from offdiag.inputs.content.thumbnails import LENGTH, RESULT, StoredImage

_READER = "offdiag.inputs.content.image_reader"
_REFUSED = 3
"""Exit code of the reader where it says in words what is wrong."""
MOST_SECONDS = 60
_KINDS = {kind.code: kind for kind in (InvalidInput, TooLarge)}


def decoded_images(files: Mapping[str, bytes]) -> dict[str, StoredImage]:
    """Decode the image files of samples and encode them again, as `stored_image` does.

    One process does it for all of them, in bounded memory and time. Raises `InvalidInput` for
    what is no image or brings its decoder down, and `TooLarge`; both name the sample.
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
    """Media type, thumbnail and larger image of each that is whole in what the reader wrote."""
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
    """The sample whose image was being decoded."""
    return list(files)[min(len(_results(output)), len(files) - 1)]


def _brought_down(name: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"sample {name!r}: the process that decodes its image {what}.",
        field="images",
        hint="Write the image again with another program, or send fewer and smaller ones.",
    )
