"""Work that waits goes on waiting; its size and the request behind it are not known."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import WORK, rows

LOADED = (WORK, "UPDATE work SET project_id = 7")


def check(connection: Connection) -> None:
    found = rows(connection, "SELECT state, due, attempts, project_id, size, request_id FROM work")
    assert found == [("todo", 1.5, 2, 7, None, None)]
