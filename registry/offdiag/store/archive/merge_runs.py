"""Taking over runs with their predictions and evaluations, each once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import RowMapping, insert, or_, select
from sqlalchemy.orm import Session

from offdiag.errors import Conflict
from offdiag.store.archive.merge_datasets import KnownAs, insert_row, rows_of
from offdiag.store.archive.project import table_of
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    MetricValueRow,
    PredictionChunkRow,
    RunRow,
    ScoreChunkRow,
    UploadedMatrixRow,
)

_OF_RUN = (PredictionChunkRow, ScoreChunkRow, UploadedMatrixRow)
_OF_EVALUATION = (ConfusionMatrixRow, ClassValuesRow, MetricValueRow)


@dataclass
class MergedRuns:
    """Ids of the runs that are new, and of those that were there already."""

    new: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)


def merge_runs(source: Session, target: Session, known: KnownAs) -> MergedRuns:
    """Take over all runs. Raises `Conflict` for a run that is there with other content."""
    merged = MergedRuns()
    runs = table_of(RunRow)
    run_ids = list(source.scalars(select(runs.c.id).order_by(runs.c.created_at, runs.c.id)))
    for run_id in run_ids:
        (row,) = rows_of(source, runs, id=run_id)
        if _is_there(target, row, known):
            merged.known.append(run_id)
            continue
        _insert_run(source, target, row, known)
        merged.new.append(run_id)
    return merged


def _is_there(target: Session, row: RowMapping, known: KnownAs) -> bool:
    runs = table_of(RunRow)
    same = runs.c.id == row["id"]
    if row["client_key"] is not None:
        project_id = known.projects[row["project_id"]]
        same = or_(
            same,
            (runs.c.project_id == project_id) & (runs.c.client_key == row["client_key"]),
        )
    there = target.execute(select(runs).where(same)).mappings().all()
    for found in there:
        if found["content_digest"] != row["content_digest"]:
            raise _contradicts(row, found, "with other predictions")
        if found["deleted_at"] is not None:
            raise _contradicts(row, found, "and was deleted")
    return bool(there)


def _contradicts(row: RowMapping, found: RowMapping, how: str) -> Conflict:
    return Conflict(
        f"run {row['id']} is there as {found['id']} {how}.",
        field="run",
        hint="Nothing was imported. Delete or restore it, or import into another registry.",
    )


def _insert_run(source: Session, target: Session, row: RowMapping, known: KnownAs) -> None:
    truth_id = row["truth_version_id"]
    values = dict(row) | {
        "project_id": known.projects[row["project_id"]],
        "dataset_id": known.datasets[row["dataset_id"]],
        "truth_version_id": None if truth_id is None else known.truths[truth_id],
    }
    target.execute(insert(table_of(RunRow)), values)
    for model in _OF_RUN:
        table = table_of(model)
        keys = select(*table.primary_key.columns).where(table.c.run_id == row["id"])
        # One blob at a time: the scores of a run may be larger than memory.
        for key in source.execute(keys.order_by(*table.primary_key.columns)).all():
            (part,) = rows_of(source, table, **key._asdict())
            target.execute(insert(table), dict(part))
    for evaluation in rows_of(source, table_of(EvaluationRow), run_id=row["id"]):
        _insert_evaluation(source, target, evaluation, known)


def _insert_evaluation(source: Session, target: Session, row: RowMapping, known: KnownAs) -> None:
    truth_id = row["truth_version_id"]
    evaluation_id = insert_row(
        target,
        table_of(EvaluationRow),
        row,
        truth_version_id=None if truth_id is None else known.truths[truth_id],
    )
    for model in _OF_EVALUATION:
        table = table_of(model)
        changes: dict[str, Any] = {"evaluation_id": evaluation_id}
        parts = []
        for part in rows_of(source, table, evaluation_id=row["id"]):
            if "label_set_id" in part:
                changes["label_set_id"] = known.label_sets[part["label_set_id"]]
            parts.append(dict(part) | changes)
        if parts:
            target.execute(insert(table), parts)
