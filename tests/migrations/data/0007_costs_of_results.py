"""Evaluations that were judged by costs name none, so that they are asked for again."""

from __future__ import annotations

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"

LOADED = f"""
INSERT INTO project (id, name, created_at) VALUES (1, 'default', '{NOW}');
INSERT INTO label_set (id, digest, names, n_classes, ordinal) VALUES (1, 'd', '[]', 2, false);
INSERT INTO cost_matrix (id, project_id, name, version, label_set_id, weights, created_at)
    VALUES (1, 1, 'visits', 1, 1, '', '{NOW}');
INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at,
                     default_cost_matrix_id)
    VALUES (1, 1, 'pets', 'binary', 1, true, '{NOW}', 1);
INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                 created_at, finished_at)
    VALUES ('r_1', 1, 1, 'first', 'evaluated', '{{}}', '{{}}', 'predictions', '{NOW}', '{NOW}');
INSERT INTO evaluation (id, run_id, suite_version, engine_version, input_digest, n_cases,
                        n_labelled, is_current, computed_at, duration_s, cost_matrix_id)
    VALUES (1, 'r_1', 1, '0.1.0', 'd', 3, 3, true, '{NOW}', 0.1, 1);
INSERT INTO metric_value (evaluation_id, key, class_index, value)
    VALUES (1, 'overall_accuracy', -1, 0.5)
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    judged = "SELECT is_current, cost_matrix_id FROM evaluation"
    assert [(bool(current), costs) for current, costs in connection.execute(text(judged))] == [
        (True, None)
    ]
    assert connection.scalar(text("SELECT default_cost_matrix_id FROM dataset")) == 1
    assert connection.scalar(text("SELECT count(*) FROM metric_value")) == 1
