"""Roles and tokens of before stay, no label is proposed, and a labeler can be added."""

from __future__ import annotations

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"

STATEMENTS = (
    "INSERT INTO user_account (id, name, created_at) VALUES (1, 'ana', :now)",
    "INSERT INTO membership (id, user_id, role) VALUES (3, 1, 'editor')",
    """
    INSERT INTO api_token (id, name, prefix, digest, owner_id, role, created_at)
        VALUES (5, 'ci', 'od', 'd', 1, 'logger', :now)
    """,
)


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})


def check(connection: Connection) -> None:
    assert connection.execute(text("SELECT id, role FROM membership")).all() == [(3, "editor")]
    assert connection.execute(text("SELECT id, role FROM api_token")).all() == [(5, "logger")]
    assert connection.execute(text("SELECT count(*) FROM label_answer")).scalar() == 0
    connection.execute(text("UPDATE membership SET role = 'labeler'"))
