"""Flags stay as they are; one index takes the place of another."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, text

NOW = "2026-01-02 03:04:05.000000"

LOADED = f"""
INSERT INTO project (id, name, created_at) VALUES (1, 'default', '{NOW}');
INSERT INTO label_set (id, digest, names, n_classes, ordinal) VALUES (1, 'd', '[]', 2, false);
INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
    VALUES (1, 1, 'pets', 'binary', 1, true, '{NOW}');
INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                 created_at, finished_at, score_columns)
    VALUES ('r_1', 1, 1, 'one', 'evaluated', '{{}}', '{{}}', 'actual_rows', '{NOW}', '{NOW}', 0);
INSERT INTO flag (id, run_id, rule, rule_version, class_label, severity, message, evidence, fired,
                  thresholds, in_badge, state, first_seen, last_seen)
    VALUES (1, 'r_1', 'F1', 1, 'a', 'high', 'm', '{{}}', '[]', '{{}}', true, 'open',
            '{NOW}', '{NOW}'),
           (2, 'r_1', 'F1', 1, 'b', 'high', 'm', '{{}}', '[]', '{{}}', true, 'open',
            '{NOW}', '{NOW}')
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    rows = connection.execute(text("SELECT id, state FROM flag ORDER BY id"))
    indexes = {index["name"] for index in inspect(connection).get_indexes("flag")}

    assert [tuple(row) for row in rows] == [(1, "open"), (2, "open")]
    assert "ix_flag_state_severity_id" in indexes
    assert "ix_flag_state_severity" not in indexes
