"""Results that were made before have no counts of slices, and counts go with their results."""

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

COUNTS = """
INSERT INTO slice_counts (evaluation_id, columns_digest, columns, n_slices, n_parts, n_left_out,
                          dtype, members, numbers)
    VALUES (1, '', '[]', :n_slices, :n_parts, 0, 'u1', '', '')
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    assert connection.scalar(text("SELECT count(*) FROM slice_counts")) == 0
    refused(connection, n_slices=-1, n_parts=1)
    refused(connection, n_slices=0, n_parts=0)
    connection.execute(text(COUNTS), {"n_slices": 3, "n_parts": 2})

    refused(connection, n_slices=3, n_parts=2)  # The same evaluation twice.
    connection.execute(text("DELETE FROM evaluation"))
    assert connection.scalar(text("SELECT count(*) FROM slice_counts")) == 0


def refused(connection: Connection, **values: int) -> None:
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(COUNTS), values)
