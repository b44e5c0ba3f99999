"""Positive classes of before were named; datasets without one do not get one."""

from __future__ import annotations

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"

STATEMENTS = (
    "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)",
    """
    INSERT INTO label_set (id, digest, names, n_classes, ordinal)
        VALUES (1, 'd', '["0", "1"]', 2, false)
    """,
    """
    INSERT INTO dataset
        (id, project_id, name, task, label_set_id, labels_inferred, positive_label, created_at)
        VALUES (1, 1, 'named', 'binary', 1, true, '1', :now),
               (2, 1, 'unnamed', 'binary', 1, true, NULL, :now)
    """,
)


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})


def check(connection: Connection) -> None:
    rows = connection.execute(
        text("SELECT name, positive_label, positive_by_convention FROM dataset ORDER BY id")
    )
    assert [(name, label, bool(known)) for name, label, known in rows] == [
        ("named", "1", False),
        ("unnamed", None, False),
    ]
