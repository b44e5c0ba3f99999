"""Datasets of before show no content, and hide none."""

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
    INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
        VALUES (1, 1, 'holdout', 'binary', 1, true, :now)
    """,
)


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})


def check(connection: Connection) -> None:
    row = connection.execute(
        text("SELECT image_template, link_template, content_hidden FROM dataset")
    ).one()
    assert (row[0], row[1], bool(row[2])) == (None, None, False)
    assert connection.execute(text("SELECT count(*) FROM sample_content")).scalar() == 0
