"""Rows in plain SQL as the schema of their time has them: models only know the newest one."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

NOW = "2026-01-02 03:04:05.000000"

PROJECT = "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)"
USER = "INSERT INTO user_account (id, name, created_at) VALUES (1, 'ana', :now)"
LABELS = """
INSERT INTO label_set (id, digest, names, n_classes, ordinal)
    VALUES (1, 'd', '["a", "b"]', 2, false)
"""
DATASET = (
    PROJECT,
    LABELS,
    """
    INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
        VALUES (1, 1, 'pets', 'binary', 1, true, :now)
    """,
)
"""A dataset of two classes with all it needs."""
RUN = (
    *DATASET,
    """
    INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                     created_at, finished_at)
        VALUES ('r_1', 1, 1, 'one', 'evaluated', '{}', '{"team": "derm"}', 'predictions', :now,
                :now)
    """,
)
CHUNK = """
INSERT INTO prediction_chunk (run_id, seq, n, dtype, codec, codes, sha256)
    VALUES ('r_1', 0, 1, 'u1', 'raw', '', 'd')
"""
COUNTS = """
INSERT INTO counted_cases (run_id, n_kinds, dtype, codec, actual, predicted, sizes)
    VALUES ('r_1', 1, 'u1', 'raw', '', '', '')
"""
EVALUATION = """
INSERT INTO evaluation (id, run_id, suite_version, engine_version, input_digest, n_cases,
                        n_labelled, is_current, computed_at, duration_s)
    VALUES (1, 'r_1', 1, '0.1.0', 'd', 3, 3, true, :now, 0.1)
"""
WORK = """
INSERT INTO work (task, args, "key", state, due, attempts, created_at)
    VALUES ('evaluate', '{"run": "r_1"}', 'evaluate:r_1', 'todo', 1.5, 2, 1.0)
"""


def execute(connection: Connection, *statements: str, **values: object) -> None:
    """Execute statements with those of the values that each of them names, and `:now`."""
    for statement in statements:
        known = {"now": NOW, **values}
        named = {name: value for name, value in known.items() if f":{name}" in statement}
        connection.execute(text(statement), named)


def refused(connection: Connection, statement: str, **values: object) -> None:
    """Fail unless a constraint forbids a row."""
    with pytest.raises(IntegrityError), connection.begin_nested():
        execute(connection, statement, **values)


def rows(connection: Connection, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in connection.execute(text(query))]


def count(connection: Connection, *tables: str) -> list[object]:
    """How many rows each of the tables has."""
    return [connection.scalar(text(f"SELECT count(*) FROM {table}")) for table in tables]


def document(connection: Connection, query: str) -> object:
    """The JSON in one place, which only one of the databases has a type for."""
    found = connection.scalar(text(query))
    return json.loads(found) if isinstance(found, str) else found
