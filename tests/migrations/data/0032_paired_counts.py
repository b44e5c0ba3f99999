"""Counts of before stay, and are paired with none."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import COUNTS, RUN, count, rows

LOADED = (*RUN, COUNTS)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT run_id, n_kinds FROM counted_cases") == [("r_1", 1)]
    assert count(connection, "paired_counts", "paired_run") == [0, 0]
