"""Positive classes of before were named; datasets without one do not get one."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import LABELS, PROJECT, rows

LOADED = (
    PROJECT,
    LABELS,
    """
    INSERT INTO dataset
        (id, project_id, name, task, label_set_id, labels_inferred, positive_label, created_at)
        VALUES (1, 1, 'named', 'binary', 1, true, '1', :now),
               (2, 1, 'unnamed', 'binary', 1, true, NULL, :now)
    """,
)


def check(connection: Connection) -> None:
    found = "SELECT name, positive_label, positive_by_convention FROM dataset ORDER BY id"
    assert rows(connection, found) == [("named", "1", False), ("unnamed", None, False)]
