"""The fewest rows that other rows can refer to, for tests of the tables themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

from offdiag.store.database import Session
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    PredictionChunkRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
    WorkRow,
)

Row = TypeVar("Row")

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def add_project(session: Session, **changes: Any) -> ProjectRow:
    return _added(session, ProjectRow, {"name": "default", "created_at": NOW} | changes)


def add_dataset(session: Session, **changes: Any) -> DatasetRow:
    labels = _added(
        session,
        LabelSetRow,
        {"digest": "d", "names": ["cat", "dog"], "n_classes": 2, "ordinal": False},
    )
    facts = {
        "project_id": add_project(session).id,
        "name": "pets",
        "task": "binary",
        "label_set_id": labels.id,
        "labels_inferred": True,
        "created_at": NOW,
    }
    return _added(session, DatasetRow, facts | changes)


def add_truth(session: Session, dataset: DatasetRow, **changes: Any) -> TruthVersionRow:
    facts = {
        "dataset_id": dataset.id,
        "number": 1,
        "digest": "d",
        "n_samples": 2,
        "n_labelled": 2,
        "root_id": 0,
        "id_kind": "position",
        "class_counts": [1, 1],
        "origin": "logged",
        "created_at": NOW,
    }
    row = _added(session, TruthVersionRow, facts | changes)
    if "root_id" not in changes:
        row.root_id = row.id
        session.flush()  # Only now can it be committed.
    return row


def add_run(session: Session, dataset: DatasetRow, **changes: Any) -> RunRow:
    facts = {
        "id": "r_1",
        "project_id": dataset.project_id,
        "dataset_id": dataset.id,
        "name": "first",
        "state": "open",
        "params": {},
        "tags": {},
        "source_orientation": "predictions",
        "created_at": NOW,
    }
    return _added(session, RunRow, facts | changes)


def add_chunk(session: Session, run: RunRow, **changes: Any) -> PredictionChunkRow:
    facts = {
        "run_id": run.id,
        "seq": 0,
        "n": 2,
        "dtype": "u1",
        "codec": "raw",
        "codes": b"\x00\x01",
        "sha256": "d",
    }
    return _added(session, PredictionChunkRow, facts | changes)


def add_evaluation(session: Session, run: RunRow, **changes: Any) -> EvaluationRow:
    facts = {
        "run_id": run.id,
        "suite_version": 1,
        "engine_version": "0.1.0",
        "input_digest": "d",
        "n_cases": 2,
        "n_labelled": 2,
        "is_current": True,
        "computed_at": NOW,
        "duration_s": 0.1,
    }
    return _added(session, EvaluationRow, facts | changes)


def add_work(session: Session, **changes: Any) -> WorkRow:
    facts = {
        "task": "evaluate",
        "args": {},
        "key": "evaluate:r_1",
        "state": "todo",
        "due": 0.0,
        "created_at": 0.0,
    }
    return _added(session, WorkRow, facts | changes)


def _added(session: Session, kind: type[Row], facts: dict[str, Any]) -> Row:
    row = kind(**facts)
    session.add(row)
    session.flush()  # So that the id is known and constraints speak up here.
    return row
