"""Datasets of before have no groups of classes; groups keep their order."""

from __future__ import annotations

import json

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"
GROUPS = [{"group": "z", "members": ["b"]}, {"group": "a", "members": ["a"]}]

STATEMENTS = (
    "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)",
    """
    INSERT INTO label_set (id, digest, names, n_classes, ordinal)
        VALUES (1, 'd', '["a", "b"]', 2, false)
    """,
    """
    INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
        VALUES (1, 1, 'pets', 'binary', 1, true, :now)
    """,
)


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})


def check(connection: Connection) -> None:
    assert connection.execute(text("SELECT name, hierarchy FROM dataset")).all() == [
        ("pets", None)
    ]
    connection.execute(
        text("UPDATE dataset SET hierarchy = :given"), {"given": json.dumps(GROUPS)}
    )
    stored = connection.scalar(text("SELECT hierarchy FROM dataset"))
    assert (json.loads(stored) if isinstance(stored, str) else stored) == GROUPS
