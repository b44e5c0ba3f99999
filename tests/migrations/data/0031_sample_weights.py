"""Runs of before have no weights, and their chunks stay."""

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
    """
    INSERT INTO run (id, project_id, dataset_id, name, params, tags, state, source_orientation,
            created_at, finished_at, score_columns)
        VALUES ('r_1', 1, 1, 'one', '{}', '{}', 'evaluated', 'predictions', :now, :now, 0)
    """,
    """
    INSERT INTO prediction_chunk (run_id, seq, n, dtype, codec, codes, sha256)
        VALUES ('r_1', 0, 1, 'u1', 'raw', '', 's')
    """,
)


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})


def check(connection: Connection) -> None:
    rows = connection.execute(text("SELECT id FROM run WHERE NOT is_weighted")).all()
    assert rows == [("r_1",)]
    rows = connection.execute(text("SELECT seq, weights FROM prediction_chunk")).all()
    assert rows == [(0, None)]
