"""Work that waits goes on waiting; its size and the request behind it are not known."""

from __future__ import annotations

from sqlalchemy import Connection, text

WORK = """
INSERT INTO work (task, args, "key", state, due, attempts, created_at, project_id)
    VALUES ('evaluate', '{"run": "r_1"}', 'evaluate:r_1', 'todo', 1.5, 2, 1.0, 7)
"""


def load(connection: Connection) -> None:
    connection.execute(text(WORK))


def check(connection: Connection) -> None:
    (row,) = connection.execute(
        text("SELECT state, due, attempts, project_id, size, request_id FROM work")
    )
    assert tuple(row) == ("todo", 1.5, 2, 7, None, None)
