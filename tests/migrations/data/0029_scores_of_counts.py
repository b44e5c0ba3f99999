"""Counts of before have no scores, and stay."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import COUNTS, RUN, rows

LOADED = (*RUN, COUNTS)


def check(connection: Connection) -> None:
    found = rows(connection, "SELECT run_id, n_kinds, scores FROM counted_cases")
    assert found == [("r_1", 1, None)]
