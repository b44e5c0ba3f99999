"""Counts of before stay, and are paired with none."""

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
        VALUES ('r_1', 1, 1, 'one', '{}', '{}', 'evaluated', 'actual_rows', :now, :now, 0)
    """,
    """
    INSERT INTO counted_cases (run_id, n_kinds, dtype, codec, actual, predicted, sizes)
        VALUES ('r_1', 1, 'u1', 'raw', '', '', '')
    """,
)


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})


def check(connection: Connection) -> None:
    rows = connection.execute(text("SELECT run_id, n_kinds FROM counted_cases")).all()
    assert [tuple(row) for row in rows] == [("r_1", 1)]
    for table in ("paired_counts", "paired_run"):
        assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0
