"""Columns of a Parquet file that somebody sent, read by a process of its own.

Parquet unpacks pages by what their headers promise, so a forged file of a few hundred bytes can
ask for gigabytes, and one that is damaged enough can end the process that reads it. That process
holds nothing else, and has limits of memory and time.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys

import pyarrow as pa

from offdiag.arrays.bodies.arrow_body import read_arrow_body
from offdiag.errors import InvalidInput, Malformed, TooLarge

_READER = "offdiag.arrays.bodies.parquet_reader"
_REFUSED = 3
"""Exit code of the reader where it says in words what is wrong."""
_MOST_SECONDS = 20
_MOST_DESCRIPTION = 4 << 20
_KINDS = {kind.code: kind for kind in (InvalidInput, Malformed, TooLarge)}


def read_parquet_body(body: bytes) -> dict[str, pa.Array]:
    """The columns of a file. Raises as `read_arrow_body` does."""
    _require_short_description(body)
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; the body is its input
            [sys.executable, "-P", "-m", _READER],
            input=body,
            capture_output=True,
            timeout=_MOST_SECONDS,
            check=False,
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        raise _damaged(f"reading it took more than {_MOST_SECONDS} s") from None
    if done.returncode == 0:
        return read_arrow_body(done.stdout)
    if done.returncode == _REFUSED:
        said = json.loads(done.stderr.splitlines()[-1])
        raise _KINDS[said["code"]](said["message"], field=said["field"], hint=said["hint"])
    raise _damaged("its reader came to an end")


def _require_short_description(body: bytes) -> None:
    if len(body) < 12 or not body.startswith(b"PAR1") or not body.endswith(b"PAR1"):
        raise _damaged("it does not begin and end as one")
    (size,) = struct.unpack_from("<I", body, len(body) - 8)
    if size > len(body) - 12:
        raise _damaged("its description is longer than the file")
    if size > _MOST_DESCRIPTION:
        raise TooLarge(
            f"the description of the Parquet file has {size:,} bytes.",
            field="body",
            hint="Send only the columns of a chunk, in few row groups.",
        )


def _damaged(why: str) -> Malformed:
    return Malformed(
        f"the body is no sound Parquet file ({why}).",
        field="body",
        hint="Write it again; Arrow streams are read faster.",
    )
