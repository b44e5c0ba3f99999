"""Runs of before have no weights, and their chunks stay."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import RUN, rows

LOADED = (
    *RUN,
    """
    INSERT INTO prediction_chunk (run_id, seq, n, dtype, codec, codes, sha256)
        VALUES ('r_1', 0, 1, 'u1', 'raw', '', 's')
    """,
)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT id FROM run WHERE NOT is_weighted") == [("r_1",)]
    assert rows(connection, "SELECT seq, weights FROM prediction_chunk") == [(0, None)]
