"""A process that decodes images from its input and writes them encoded again.

It is started by `offdiag.inputs.content.images`, with limits on memory and processor time, because
decoders are written in C and anyone who may log can feed them. If an image is refused, the last
line of the error output says why, as JSON, and the exit code is 3; any other failure means that
the image crashed the reader.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import BinaryIO

from offdiag.errors import InvalidInput, TooLarge
from offdiag.inputs.content.images import LENGTH, RESULT, stored_image

_MOST_MEMORY = 1 << 30
_MOST_CPU_S = 30


def main() -> int:
    """Read and write the images; the exit code says whether that worked."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU_S, _MOST_CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _copy(sys.stdin.buffer, sys.stdout.buffer)
    except InvalidInput as error:
        return _refuse(error)
    except MemoryError:
        return _refuse(
            TooLarge(
                f"an image takes more than {_MOST_MEMORY >> 20} MiB to decode.",
                field="images",
                hint="Send a smaller one; only thumbnails are stored anyway.",
            )
        )
    return 0


def _copy(source: BinaryIO, sink: BinaryIO) -> None:
    while head := source.read(LENGTH.size):
        (n_bytes,) = LENGTH.unpack(head)
        made = stored_image(source.read(n_bytes))
        image = b"" if made.image is None else made.image
        sink.write(RESULT.pack(made.media_type == "image/png", len(made.thumbnail), len(image)))
        sink.write(made.thumbnail)
        sink.write(image)
        # The parent counts complete results, to name the image that crashes this process.
        sink.flush()


def _refuse(error: InvalidInput) -> int:
    sys.stderr.write(f"{json.dumps(error.to_dict())}\n")
    return 3


if __name__ == "__main__":
    sys.exit(main())
