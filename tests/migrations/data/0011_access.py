"""A user has one role everywhere and one in each project; who is gone leaves nothing behind."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

NOW = "2026-01-02 03:04:05.000000"
PROJECT = "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)"
USER = "INSERT INTO user_account (id, name, created_at) VALUES (1, 'ana', :now)"
MEMBERSHIP = "INSERT INTO membership (user_id, project_id, role) VALUES (1, :project, :role)"
SESSION = """
INSERT INTO user_session (digest, user_id, created_at, seen_at) VALUES ('d', 1, :now, :now)
"""


def load(connection: Connection) -> None:
    connection.execute(text(PROJECT), {"now": NOW})


def check(connection: Connection) -> None:
    assert connection.scalar(text("SELECT count(*) FROM project")) == 1
    connection.execute(text(USER), {"now": NOW})
    connection.execute(text(SESSION), {"now": NOW})
    for project in (None, 1):
        connection.execute(text(MEMBERSHIP), {"project": project, "role": "viewer"})
        with pytest.raises(IntegrityError), connection.begin_nested():
            connection.execute(text(MEMBERSHIP), {"project": project, "role": "admin"})
    connection.execute(text("DELETE FROM user_account"))
    for table in ("membership", "user_session"):
        assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0
