"""Roles and tokens of before stay, no label is proposed, and a labeler can be added."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import USER, count, execute, rows

LOADED = (
    USER,
    "INSERT INTO membership (id, user_id, role) VALUES (3, 1, 'editor')",
    """
    INSERT INTO api_token (id, name, prefix, digest, owner_id, role, created_at)
        VALUES (5, 'ci', 'od', 'd', 1, 'logger', :now)
    """,
)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT id, role FROM membership") == [(3, "editor")]
    assert rows(connection, "SELECT id, role FROM api_token") == [(5, "logger")]
    assert count(connection, "label_answer") == [0]
    execute(connection, "UPDATE membership SET role = 'labeler'")
