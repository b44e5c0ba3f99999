"""Work that waits goes on waiting, for nobody in particular."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import WORK, rows

LOADED = (WORK,)


def check(connection: Connection) -> None:
    found = rows(connection, "SELECT state, due, attempts, project_id FROM work")
    assert found == [("todo", 1.5, 2, None)]
