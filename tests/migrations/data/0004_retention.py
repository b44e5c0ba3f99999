"""Runs of before are there, and can be marked as deleted."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import CHUNK, RUN, count, execute, rows

LOADED = (*RUN, CHUNK)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT deleted_at, deleted_by FROM run") == [(None, None)]
    assert count(connection, "prediction_chunk") == [1]

    execute(connection, "UPDATE run SET deleted_at = :now, deleted_by = 'ada'")

    assert count(connection, "run WHERE deleted_at IS NOT NULL") == [1]
