"""Counts belong to a run, and go with it."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import RUN, count, execute, refused

LOADED = RUN
CASES = """
INSERT INTO counted_cases (run_id, n_kinds, dtype, codec, actual, predicted, sizes)
    VALUES (:run, :n_kinds, 'u1', 'raw', '', '', '')
"""
SLICE = """
INSERT INTO counted_slice (run_id, name, levels, dtype, codec, codes)
    VALUES ('r_1', 'country', '["DE"]', 'u1', 'raw', '')
"""


def check(connection: Connection) -> None:
    refused(connection, SLICE)  # Its counts are not there.
    refused(connection, CASES, run="r_2", n_kinds=1)
    refused(connection, CASES, run="r_1", n_kinds=0)
    execute(connection, CASES, SLICE, run="r_1", n_kinds=1)
    refused(connection, SLICE)

    execute(connection, "DELETE FROM run")
    assert count(connection, "counted_cases", "counted_slice") == [0, 0]
