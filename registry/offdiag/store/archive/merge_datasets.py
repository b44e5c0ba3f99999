"""Taking over projects, classes, costs and datasets that the target may know already."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, func, select, update
from sqlalchemy.orm import Session

from offdiag.errors import Conflict
from offdiag.store.archive.known import KnownAs, insert_row, rows_of
from offdiag.store.archive.project import table_of
from offdiag.store.models import BaselineRow, CostMatrixRow, DatasetRow, LabelSetRow, ProjectRow

_MEANING = ("label_set_id", "weights", "currency", "note")


def merge_datasets(source: Session, target: Session, known: KnownAs) -> None:
    """Take over everything around ground truth and runs. Raises `Conflict`.

    What people decided here stays. Where nobody did, the decision of the source is taken over:
    the positive class, the groups of classes, and the costs that count.
    """
    for row in rows_of(source, table_of(ProjectRow)):
        known.projects[row["id"]] = _project(target, row, known)
    for row in rows_of(source, table_of(LabelSetRow)):
        known.label_sets[row["id"]] = _label_set(target, row, known)
    for row in rows_of(source, table_of(CostMatrixRow)):
        known.costs[row["id"]] = _costs(target, row, known)
    for row in rows_of(source, table_of(DatasetRow)):
        known.datasets[row["id"]] = _dataset(target, row, known)


def merge_baselines(source: Session, target: Session, known: KnownAs) -> None:
    """Pin the baselines of datasets that have none here."""
    table = table_of(BaselineRow)
    for row in rows_of(source, table):
        dataset_id = known.datasets[row["dataset_id"]]
        if not rows_of(target, table, dataset_id=dataset_id):
            values = dict(row) | {"dataset_id": dataset_id, "run_id": known.runs[row["run_id"]]}
            target.execute(table.insert(), values)
            known.added[table.name] += 1


def _project(target: Session, row: RowMapping, known: KnownAs) -> int:
    table = table_of(ProjectRow)
    there = target.scalar(select(table.c.id).where(table.c.name == row["name"]))
    return insert_row(target, table, row, known) if there is None else int(there)


def _label_set(target: Session, row: RowMapping, known: KnownAs) -> int:
    table = table_of(LabelSetRow)
    there = target.scalar(select(table.c.id).where(table.c.digest == row["digest"]))
    return insert_row(target, table, row, known) if there is None else int(there)


def _costs(target: Session, row: RowMapping, known: KnownAs) -> int:
    """The version that says the same, whatever its number; else the next one of this name."""
    table = table_of(CostMatrixRow)
    project_id = known.projects[row["project_id"]]
    label_set_id = known.label_sets[row["label_set_id"]]
    wanted = _said(dict(row) | {"label_set_id": label_set_id})
    versions = rows_of(target, table, project_id=project_id, name=row["name"])
    for version in versions:
        if _said(dict(version)) == wanted:
            return int(version["id"])
    newest = max((version["version"] for version in versions), default=0)
    return insert_row(
        target,
        table,
        row,
        known,
        project_id=project_id,
        label_set_id=label_set_id,
        version=max(row["version"], newest + 1),
    )


def _said(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _MEANING)


def _dataset(target: Session, row: RowMapping, known: KnownAs) -> int:
    table = table_of(DatasetRow)
    given = {
        "project_id": known.projects[row["project_id"]],
        "label_set_id": known.label_sets[row["label_set_id"]],
        "default_cost_matrix_id": known.costs.get(row["default_cost_matrix_id"]),
    }
    found = rows_of(target, table, project_id=given["project_id"], name=row["name"])
    if not found:
        return insert_row(target, table, row, known, **given)
    there = found[0]
    _require_same_classes(row, there, label_set_id=given["label_set_id"])
    if there["labels_inferred"] != row["labels_inferred"]:
        known.judged_otherwise.add(row["id"])
    if there["positive_label"] is not None and row["positive_label"] is None:
        known.judged_otherwise.add(row["id"])
    target.execute(
        update(table)
        .where(table.c.id == there["id"])
        .values(
            positive_label=func.coalesce(table.c.positive_label, row["positive_label"]),
            positive_by_convention=_is_by_convention(there, row),
            hierarchy=row["hierarchy"] if there["hierarchy"] is None else there["hierarchy"],
            default_cost_matrix_id=func.coalesce(
                table.c.default_cost_matrix_id, given["default_cost_matrix_id"]
            ),
        )
    )
    return int(there["id"])


def _is_by_convention(there: RowMapping, row: RowMapping) -> bool:
    """Whether nobody named the positive class here, nor in the source."""
    known = [each for each in (there, row) if each["positive_label"] is not None]
    return bool(known) and all(each["positive_by_convention"] for each in known)


def _require_same_classes(row: RowMapping, there: RowMapping, *, label_set_id: int | None) -> None:
    positives = {there["positive_label"], row["positive_label"]} - {None}
    same = there["label_set_id"] == label_set_id and there["task"] == row["task"]
    if not same or len(positives) > 1:
        raise Conflict(
            f"dataset {row['name']!r} is there with other classes.",
            field="dataset",
            hint="Nothing was imported. Import it as a project of another name (--as).",
        )
