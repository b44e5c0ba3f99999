"""Work that waits keeps its attempts and has lost no lease that anybody knows of."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import WORK, rows

LOADED = (WORK,)


def check(connection: Connection) -> None:
    found = rows(connection, "SELECT state, due, attempts, losses FROM work")
    assert found == [("todo", 1.5, 2, 0)]
