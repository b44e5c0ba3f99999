"""Before the first revision there is nothing; after it, a whole evaluated run can be stored."""

from __future__ import annotations

from sqlalchemy import Connection, text

from support.old_rows import NOW, count, execute

BLOB = b"\x00\x01"
CHUNK = {"seq": 0, "n": 2, "dtype": "u1", "codec": "raw", "codes": BLOB, "sha256": "d"}

ROWS: tuple[tuple[str, dict[str, object]], ...] = (
    ("project", {"id": 1, "name": "default", "created_at": NOW}),
    (
        "label_set",
        {"id": 1, "digest": "d", "names": '["cat", "dog"]', "n_classes": 2, "ordinal": False},
    ),
    (
        "dataset",
        {
            "id": 1,
            "project_id": 1,
            "name": "pets",
            "task": "binary",
            "label_set_id": 1,
            "labels_inferred": True,
            "created_at": NOW,
        },
    ),
    (
        "truth_version",
        {
            "id": 1,
            "dataset_id": 1,
            "number": 1,
            "digest": "d",
            "n_samples": 2,
            "id_kind": "position",
            "class_counts": "[1, 1]",
            "origin": "logged",
            "created_at": NOW,
        },
    ),
    ("truth_chunk", {"truth_version_id": 1, **CHUNK}),
    (
        "run",
        {
            "id": "r_1",
            "project_id": 1,
            "dataset_id": 1,
            "truth_version_id": 1,
            "name": "first",
            "state": "evaluated",
            "params": "{}",
            "tags": "{}",
            "source_orientation": "predictions",
            "created_at": NOW,
            "finished_at": NOW,
        },
    ),
    ("prediction_chunk", {"run_id": "r_1", **CHUNK}),
    (
        "score_chunk",
        {"run_id": "r_1", "seq": 0, "n_columns": 1, "dtype": "f4", "codec": "raw", "scores": BLOB},
    ),
    ("pending_truth", {"run_id": "r_1", "seq": 0, "id_kind": "position"}),
    ("uploaded_matrix", {"run_id": "r_1", "n_classes": 2, "cells": BLOB}),
    (
        "evaluation",
        {
            "id": 1,
            "run_id": "r_1",
            "truth_version_id": 1,
            "suite_version": 1,
            "engine_version": "0.1.0",
            "input_digest": "d",
            "n_cases": 2,
            "is_current": True,
            "computed_at": NOW,
            "duration_s": 0.1,
        },
    ),
    (
        "confusion_matrix",
        {"evaluation_id": 1, "label_set_id": 1, "n_classes": 2, "cells": BLOB, "digest": "d"},
    ),
    ("metric_value", {"evaluation_id": 1, "key": "accuracy", "class_index": -1, "value": 0.5}),
    (
        "class_values",
        {"evaluation_id": 1, "n_classes": 2, "keys": "[]", "reasons": "{}", "data": BLOB},
    ),
    (
        "work",
        {
            "id": 1,
            "task": "evaluate",
            "args": "{}",
            "key": "evaluate:r_1",
            "state": "todo",
            "due": 0,
            "created_at": 0,
        },
    ),
)

DEPENDENT = (
    "prediction_chunk",
    "score_chunk",
    "pending_truth",
    "uploaded_matrix",
    "evaluation",
    "confusion_matrix",
    "metric_value",
    "class_values",
)


LOADED = ()
"""There is no table to put anything into."""


def check(connection: Connection) -> None:
    for table, row in ROWS:
        columns, values = ", ".join(row), ", ".join(f":{column}" for column in row)
        connection.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), row)

    execute(connection, "DELETE FROM run")

    assert set(count(connection, *DEPENDENT)) == {0}
    assert count(connection, "truth_chunk") == [1]
