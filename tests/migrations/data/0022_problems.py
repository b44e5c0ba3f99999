"""Flags of one cause and class over the runs of a model get one number; others stay apart."""

from __future__ import annotations

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"
LATER = "2026-01-03 03:04:05.000000"

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
RUN = """
INSERT INTO run (id, project_id, dataset_id, name, model, params, tags, state,
        source_orientation, created_at, finished_at, score_columns)
    VALUES (:id, 1, 1, :id, :model, '{}', '{}', 'evaluated', 'actual_rows', :now, :now, 0)
"""
FLAG = """
INSERT INTO flag (run_id, rule, rule_version, class_label, severity, message, evidence, fired,
        thresholds, in_badge, state, first_seen, last_seen)
    VALUES (:run, :rule, 1, :label, 'high', 'm', '{}', '[]', '{}', false, 'open', :at, :at)
"""
FLAGS = (
    ("r_1", "F3", "1", LATER),
    ("r_1", "F2", "1", LATER),
    ("r_2", "F4", "1", NOW),
    ("r_2", "F6", "", NOW),
    ("r_3", "F4", "1", LATER),
    ("r_3", "X1", "1", LATER),
)


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})
    for run, model in (("r_1", "vit"), ("r_2", "vit"), ("r_3", None)):
        connection.execute(text(RUN), {"id": run, "model": model, "now": NOW})
    for run, rule, label, at in FLAGS:
        connection.execute(text(FLAG), {"run": run, "rule": rule, "label": label, "at": at})


def check(connection: Connection) -> None:
    rows = connection.execute(
        text("SELECT model, cause, class_label, opened_at FROM problem ORDER BY id")
    )
    assert [(*row[:3], str(row[3])[:10]) for row in rows] == [
        ("vit", "hides", "", NOW[:10]),
        ("vit", "missed", "1", NOW[:10]),
        ("", "missed", "1", LATER[:10]),
    ]
