"""Work that waits keeps its attempts and has lost no lease that anybody knows of."""

from __future__ import annotations

from sqlalchemy import Connection, text

WORK = """
INSERT INTO work (task, args, "key", state, due, attempts, created_at)
    VALUES ('evaluate', '{"run": "r_1"}', 'evaluate:r_1', 'todo', 1.5, 2, 1.0)
"""


def load(connection: Connection) -> None:
    connection.execute(text(WORK))


def check(connection: Connection) -> None:
    (row,) = connection.execute(text("SELECT state, due, attempts, losses FROM work"))
    assert tuple(row) == ("todo", 1.5, 2, 0)
