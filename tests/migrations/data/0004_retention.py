"""Runs of before are there, and can be marked as deleted."""

from __future__ import annotations

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"

LOADED = f"""
INSERT INTO project (id, name, created_at) VALUES (1, 'default', '{NOW}');
INSERT INTO label_set (id, digest, names, n_classes, ordinal) VALUES (1, 'd', '[]', 2, false);
INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
    VALUES (1, 1, 'pets', 'binary', 1, true, '{NOW}');
INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                 created_at)
    VALUES ('r_1', 1, 1, 'first', 'open', '{{}}', '{{}}', 'predictions', '{NOW}');
INSERT INTO prediction_chunk (run_id, seq, n, dtype, codec, codes, sha256)
    VALUES ('r_1', 0, 1, 'u1', 'raw', '', 'd')
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    deleted = "SELECT deleted_at, deleted_by FROM run"
    assert connection.execute(text(deleted)).all() == [(None, None)]
    assert connection.scalar(text("SELECT count(*) FROM prediction_chunk")) == 1

    marked = "UPDATE run SET deleted_at = :now, deleted_by = 'ada'"
    connection.execute(text(marked), {"now": NOW})

    assert connection.scalar(text("SELECT count(*) FROM run WHERE deleted_at IS NOT NULL")) == 1
