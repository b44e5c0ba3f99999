"""Runs that were logged before are derived from no other one."""

from __future__ import annotations

import json

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"
RECIPE = {"kind": "threshold", "threshold": 0.25}

LOADED = f"""
INSERT INTO project (id, name, created_at) VALUES (1, 'default', '{NOW}');
INSERT INTO label_set (id, digest, names, n_classes, ordinal) VALUES (1, 'd', '[]', 2, false);
INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
    VALUES (1, 1, 'pets', 'binary', 1, true, '{NOW}');
INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                 created_at)
    VALUES ('r_1', 1, 1, 'first', 'open', '{{}}', '{{}}', 'predictions', '{NOW}')
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    kept = "SELECT name, derived_from, derivation FROM run"
    assert connection.execute(text(kept)).all() == [("first", None, None)]

    connection.execute(
        text("UPDATE run SET derived_from = 'r_0', derivation = :recipe"),
        {"recipe": json.dumps(RECIPE)},
    )
    derived_from, recipe = connection.execute(
        text("SELECT derived_from, derivation FROM run")
    ).one()
    assert derived_from == "r_0"
    assert (json.loads(recipe) if isinstance(recipe, str) else recipe) == RECIPE
