"""Results that were made before have no curves, and curves go with their results."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

NOW = "2026-01-02 03:04:05.000000"

LOADED = f"""
INSERT INTO project (id, name, created_at) VALUES (1, 'default', '{NOW}');
INSERT INTO label_set (id, digest, names, n_classes, ordinal) VALUES (1, 'd', '[]', 2, false);
INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
    VALUES (1, 1, 'pets', 'binary', 1, true, '{NOW}');
INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                 created_at, finished_at, score_columns)
    VALUES ('r_1', 1, 1, 'first', 'evaluated', '{{}}', '{{}}', 'predictions', '{NOW}', '{NOW}', 1);
INSERT INTO evaluation (id, run_id, suite_version, engine_version, input_digest, n_cases,
                        n_labelled, is_current, computed_at, duration_s)
    VALUES (1, 'r_1', 1, '0.1.0', 'd', 3, 3, true, '{NOW}', 0.1)
"""

CURVE = """
INSERT INTO score_curve (evaluation_id, class_index, n_positive, n_negative, n_thresholds,
                         points, bins, histogram)
    VALUES (1, :class_index, :n_positive, 1, 3, '', NULL, '')
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    assert connection.scalar(text("SELECT count(*) FROM score_curve")) == 0
    for class_index in (-1, 0):
        connection.execute(text(CURVE), {"class_index": class_index, "n_positive": 2})

    refused(connection, class_index=0, n_positive=2)  # The same class twice.
    refused(connection, class_index=-2, n_positive=2)
    refused(connection, class_index=1, n_positive=-1)
    connection.execute(text("DELETE FROM evaluation"))
    assert connection.scalar(text("SELECT count(*) FROM score_curve")) == 0


def refused(connection: Connection, **values: int) -> None:
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(CURVE), values)
