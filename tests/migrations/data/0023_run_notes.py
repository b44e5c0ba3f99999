"""Runs of before have no note, and keep everything else."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import RUN, rows

LOADED = RUN


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT id, name, note FROM run") == [("r_1", "one", None)]
