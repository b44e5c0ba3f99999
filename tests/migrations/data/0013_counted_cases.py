"""Counts belong to a run, and go with it."""

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
    VALUES ('r_1', 1, 1, 'first', 'evaluated', '{{}}', '{{}}', 'actual_rows', '{NOW}', '{NOW}', 0)
"""
CASES = """
INSERT INTO counted_cases (run_id, n_kinds, dtype, codec, actual, predicted, sizes)
    VALUES (:run, :n_kinds, 'u1', 'raw', '', '', '')
"""
SLICE = """
INSERT INTO counted_slice (run_id, name, levels, dtype, codec, codes)
    VALUES ('r_1', 'country', '["DE"]', 'u1', 'raw', '')
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    refused(connection, SLICE)  # Its counts are not there.
    refused(connection, CASES, run="r_2", n_kinds=1)
    refused(connection, CASES, run="r_1", n_kinds=0)
    connection.execute(text(CASES), {"run": "r_1", "n_kinds": 1})
    connection.execute(text(SLICE))
    refused(connection, SLICE)

    connection.execute(text("DELETE FROM run"))
    for table in ("counted_cases", "counted_slice"):
        assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0


def refused(connection: Connection, statement: str, **values: object) -> None:
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(statement), values)
