"""Comments on flags leave the history of events with their words, authors and times."""

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
    INSERT INTO flag (id, run_id, rule, rule_version, class_label, severity, message, evidence,
            fired, thresholds, in_badge, state, first_seen, last_seen)
        VALUES (1, 'r_1', 'F3', 1, '1', 'high', 'm', '{}', '[]', '{}', false, 'open', :now, :now)
    """,
)
EVENT = """
INSERT INTO flag_event (flag_id, at, author, kind, text) VALUES (1, :now, :author, :kind, :text)
"""
EVENTS = (
    (None, "opened", None),
    ("kim", "commented", "why?"),
    ("kim", "acknowledged", None),
    (None, "commented", "noise"),
)


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})
    for author, kind, words in EVENTS:
        values = {"now": NOW, "author": author, "kind": kind, "text": words}
        connection.execute(text(EVENT), values)


def check(connection: Connection) -> None:
    rows = connection.execute(
        text("SELECT flag_id, run_id, dataset_id, author, text, at FROM comment ORDER BY id")
    )
    assert [(*row[:5], str(row[5])[:10]) for row in rows] == [
        (1, None, None, "kim", "why?", NOW[:10]),
        (1, None, None, None, "noise", NOW[:10]),
    ]
    kinds = connection.execute(text("SELECT kind FROM flag_event ORDER BY id")).scalars()
    assert list(kinds) == ["opened", "acknowledged"]
