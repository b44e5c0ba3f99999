"""How much of a table file is read, whatever the file says of itself.

A few kilobytes can promise more than any memory holds. A run of this size takes minutes to log;
what is larger is logged in parts, or counted where it lies.
"""

from __future__ import annotations

from offdiag.errors import TooLarge

MOST_ROWS = 1 << 28
MOST_BYTES = 8 << 30


def require_few_rows(n_rows: int, name: str) -> None:
    """Raise `TooLarge` for more rows than one file is read of."""
    if n_rows > MOST_ROWS:
        raise _too_large(f"{name} has {n_rows:,} rows")


def require_few_bytes(n_bytes: int, name: str) -> None:
    """Raise `TooLarge` for columns that take more room than one file gets."""
    if n_bytes > MOST_BYTES:
        raise _too_large(f"{name} takes {n_bytes:,} bytes when it is unpacked")


def _too_large(what: str) -> TooLarge:
    return TooLarge(
        f"{what}.",
        field="file",
        hint=f"One file is read up to {MOST_ROWS:,} rows and {MOST_BYTES >> 30} GiB; log a larger "
        "run in parts, with start_run.",
    )
