"""Runs of before have no weights, and their chunks stay."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import CHUNK, RUN, rows

LOADED = (*RUN, CHUNK)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT id FROM run WHERE NOT is_weighted") == [("r_1",)]
    assert rows(connection, "SELECT seq, weights FROM prediction_chunk") == [(0, None)]
