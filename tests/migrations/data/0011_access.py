"""A user has one role everywhere and one in each project; who is gone leaves nothing behind."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import PROJECT, USER, count, execute, refused

LOADED = (PROJECT,)
MEMBERSHIP = "INSERT INTO membership (user_id, project_id, role) VALUES (1, :project, :role)"
SESSION = """
INSERT INTO user_session (digest, user_id, created_at, seen_at) VALUES ('d', 1, :now, :now)
"""


def check(connection: Connection) -> None:
    assert count(connection, "project") == [1]
    execute(connection, USER, SESSION)
    for project in (None, 1):
        execute(connection, MEMBERSHIP, project=project, role="viewer")
        refused(connection, MEMBERSHIP, project=project, role="admin")
    execute(connection, "DELETE FROM user_account")
    assert count(connection, "membership", "user_session") == [0, 0]
