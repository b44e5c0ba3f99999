"""Taking over projects, datasets and ground truth that the target may know already."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import RowMapping, Table, func, insert, select, update
from sqlalchemy.orm import Session

from offdiag.errors import Conflict
from offdiag.store.archive.project import table_of
from offdiag.store.models import (
    DatasetRow,
    LabelSetRow,
    ProjectRow,
    TruthChunkRow,
    TruthSliceRow,
    TruthVersionRow,
)


@dataclass
class KnownAs:
    """Ids of the source, and what the same things are called in the target."""

    projects: dict[int, int] = field(default_factory=dict)
    label_sets: dict[int, int] = field(default_factory=dict)
    datasets: dict[int, int] = field(default_factory=dict)
    truths: dict[int, int] = field(default_factory=dict)
    new_truths: list[int] = field(default_factory=list)


def merge_datasets(source: Session, target: Session) -> KnownAs:
    """Take over everything that runs refer to. Raises `Conflict` for contradictions."""
    known = KnownAs()
    for row in rows_of(source, table_of(ProjectRow)):
        known.projects[row["id"]] = _project(target, row)
    for row in rows_of(source, table_of(LabelSetRow)):
        known.label_sets[row["id"]] = _label_set(target, row)
    for row in rows_of(source, table_of(DatasetRow)):
        known.datasets[row["id"]] = _dataset(target, row, known)
    # A version comes after the one it corrects.
    for row in rows_of(source, table_of(TruthVersionRow)):
        _truth(source, target, row, known)
    return known


def rows_of(source: Session, table: Table, **equal: Any) -> list[RowMapping]:
    """The rows of a table with these values, in the order of their keys."""
    conditions = [table.c[name] == value for name, value in equal.items()]
    statement = select(table).where(*conditions).order_by(*table.primary_key.columns)
    return list(source.execute(statement).mappings())


def insert_row(target: Session, table: Table, row: RowMapping, **changes: Any) -> int:
    """Insert a row under a new id, which is returned."""
    values = {name: value for name, value in row.items() if name != "id"} | changes
    return int(target.execute(insert(table).returning(table.c.id), values).scalar_one())


def _project(target: Session, row: RowMapping) -> int:
    table = table_of(ProjectRow)
    known = target.scalar(select(table.c.id).where(table.c.name == row["name"]))
    return insert_row(target, table, row) if known is None else int(known)


def _label_set(target: Session, row: RowMapping) -> int:
    table = table_of(LabelSetRow)
    known = target.scalar(select(table.c.id).where(table.c.digest == row["digest"]))
    return insert_row(target, table, row) if known is None else int(known)


def _dataset(target: Session, row: RowMapping, known: KnownAs) -> int:
    table = table_of(DatasetRow)
    project_id = known.projects[row["project_id"]]
    label_set_id = known.label_sets[row["label_set_id"]]
    found = rows_of(target, table, project_id=project_id, name=row["name"])
    if not found:
        return insert_row(target, table, row, project_id=project_id, label_set_id=label_set_id)
    there = found[0]
    positives = {there["positive_label"], row["positive_label"]} - {None}
    if there["label_set_id"] != label_set_id or len(positives) > 1:
        raise Conflict(
            f"dataset {row['name']!r} is there with other classes.",
            field="dataset",
            hint="Nothing was imported. Import into another registry, or rename the project.",
        )
    return int(there["id"])


def _truth(source: Session, target: Session, row: RowMapping, known: KnownAs) -> None:
    dataset_id = known.datasets[row["dataset_id"]]
    there = _same_truth(target, row, dataset_id, known)
    if there is None:
        there = _insert_truth(target, row, dataset_id, known)
        known.new_truths.append(there)
        chunks = table_of(TruthChunkRow)
        for chunk in rows_of(source, chunks, truth_version_id=row["id"]):
            target.execute(insert(chunks), dict(chunk) | {"truth_version_id": there})
    known.truths[row["id"]] = there
    _slices(source, target, row["id"], there)


def _same_truth(target: Session, row: RowMapping, dataset_id: int, known: KnownAs) -> int | None:
    """The version that says the same: logged with this content, or the same correction."""
    table = table_of(TruthVersionRow)
    if row["parent_id"] is None:
        equal = {"dataset_id": dataset_id, "digest": row["digest"], "origin": "logged"}
        found = rows_of(target, table, **equal)
        return int(found[0]["id"]) if found else None
    found = rows_of(target, table, parent_id=known.truths[row["parent_id"]])
    if found and found[0]["digest"] != row["digest"]:
        raise Conflict(
            f"truth version {found[0]['number']} and the imported version {row['number']} "
            "correct the same labels in different ways.",
            field="truth",
            hint="Nothing was imported. Settle the labels on one side first.",
        )
    return int(found[0]["id"]) if found else None


def _insert_truth(target: Session, row: RowMapping, dataset_id: int, known: KnownAs) -> int:
    table = table_of(TruthVersionRow)
    newest = target.scalar(
        select(func.max(table.c.number)).where(table.c.dataset_id == dataset_id)
    )
    parent = row["parent_id"]
    truth_id = insert_row(
        target,
        table,
        row,
        dataset_id=dataset_id,
        number=(newest or 0) + 1,
        parent_id=None if parent is None else known.truths[parent],
        # A first version names itself, once it has an id; references are checked at the commit.
        root_id=0 if parent is None else known.truths[row["root_id"]],
    )
    if parent is None:
        target.execute(update(table).where(table.c.id == truth_id).values(root_id=truth_id))
    return truth_id


def _slices(source: Session, target: Session, truth_id: int, there: int) -> None:
    table = table_of(TruthSliceRow)
    known = {row["name"]: row for row in rows_of(target, table, truth_version_id=there)}
    for row in rows_of(source, table, truth_version_id=truth_id):
        same = known.get(row["name"])
        if same is None:
            target.execute(insert(table), dict(row) | {"truth_version_id": there})
        elif (same["levels"], same["codes"]) != (row["levels"], row["codes"]):
            raise Conflict(
                f"slice column {row['name']!r} is there with other values.",
                field="slices",
                hint="Nothing was imported. Values of a slice belong to the samples.",
            )
