"""How large a chunk of predictions may be, whoever sends it.

A few bytes can promise gigabytes: compressed, run-length encoded, or simply forged. What a body
says about itself is held against these before anything is unpacked.
"""

from __future__ import annotations

from offdiag.errors import TooLarge

MOST_BYTES_SENT = 64 << 20
MOST_BYTES_UNPACKED = 256 << 20
MOST_ROWS = 1 << 20
MOST_COLUMNS = 1_000
MOST_CHUNKS = 100_000


def require_few_rows(n_rows: int) -> None:
    """Raise `TooLarge` for more predictions than a chunk has."""
    if n_rows > MOST_ROWS:
        raise TooLarge(
            f"the chunk has {n_rows:,} rows.",
            field="body",
            hint=f"Send at most {MOST_ROWS:,} predictions in one chunk.",
        )


def require_few_columns(n_columns: int) -> None:
    """Raise `TooLarge` for more columns than anybody needs."""
    if n_columns > MOST_COLUMNS:
        raise TooLarge(
            f"the chunk has {n_columns:,} columns.",
            field="body",
            hint=f"Send at most {MOST_COLUMNS:,}; scores of many classes go into one list column.",
        )


def require_few_bytes(n_bytes: int) -> None:
    """Raise `TooLarge` for a body that becomes too large when it is unpacked."""
    if n_bytes > MOST_BYTES_UNPACKED:
        raise TooLarge(
            f"the chunk takes {n_bytes:,} bytes when it is unpacked.",
            field="body",
            hint=f"Send at most {MOST_BYTES_UNPACKED:,} bytes in one chunk, with fewer rows.",
        )
