"""Evaluations that are there know the recall of their worst class, where a class has one."""

from __future__ import annotations

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"

LOADED = f"""
INSERT INTO project (id, name, created_at) VALUES (1, 'default', '{NOW}');
INSERT INTO label_set (id, digest, names, n_classes, ordinal) VALUES (1, 'd', '[]', 2, false);
INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
    VALUES (1, 1, 'pets', 'binary', 1, true, '{NOW}');
INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                 created_at, finished_at, score_columns)
    VALUES ('r_1', 1, 1, 'one', 'evaluated', '{{}}', '{{}}', 'actual_rows', '{NOW}', '{NOW}', 0),
           ('r_2', 1, 1, 'two', 'evaluated', '{{}}', '{{}}', 'actual_rows', '{NOW}', '{NOW}', 0);
INSERT INTO evaluation (id, run_id, suite_version, engine_version, input_digest, n_cases,
                        n_labelled, is_current, computed_at, duration_s)
    VALUES (1, 'r_1', 1, '0', 'a', 5, 5, true, '{NOW}', 0.5),
           (2, 'r_2', 1, '0', 'b', 5, 5, true, '{NOW}', 0.5);
INSERT INTO metric_value (evaluation_id, "key", class_index, value, reason)
    VALUES (1, 'recall', 0, 0.75, NULL), (1, 'recall', 1, 0.25, NULL),
           (1, 'recall', 2, NULL, 'no_actual'), (1, 'recall', -1, 0.1, NULL),
           (1, 'precision', 0, 0.2, NULL), (2, 'recall', 0, NULL, 'no_actual')
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    rows = connection.execute(text("SELECT lowest_recall FROM evaluation ORDER BY id"))

    assert [row.lowest_recall for row in rows] == [0.25, None]
