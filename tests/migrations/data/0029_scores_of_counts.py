"""Counts of before have no scores, and stay."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import RUN, rows

LOADED = (
    *RUN,
    """
    INSERT INTO counted_cases (run_id, n_kinds, dtype, codec, actual, predicted, sizes)
        VALUES ('r_1', 1, 'u1', 'raw', '', '', '')
    """,
)


def check(connection: Connection) -> None:
    found = rows(connection, "SELECT run_id, n_kinds, scores FROM counted_cases")
    assert found == [("r_1", 1, None)]
