"""Taking over versions of ground truth, by what they say and not by their numbers."""

from __future__ import annotations

from sqlalchemy import RowMapping, func, select, update
from sqlalchemy.orm import Session

from offdiag.errors import Conflict
from offdiag.store.archive.known import KnownAs, copy_row, each_row_of, insert_row, rows_of
from offdiag.store.archive.project import table_of
from offdiag.store.models import TruthChunkRow, TruthSliceRow, TruthVersionRow
from offdiag.store.truth_versions import lock_truths


def merge_truths(source: Session, target: Session, known: KnownAs) -> None:
    """Take over all versions and slices. Raises `Conflict` for contradicting ones."""
    for dataset_id in sorted(known.datasets.values()):
        lock_truths(target, dataset_id)
    # A version comes after the one it corrects.
    for row in rows_of(source, table_of(TruthVersionRow)):
        there = _same_truth(target, row, known)
        if there is None:
            there = _insert_truth(source, target, row, known)
        known.truths[row["id"]] = there
        if row["parent_id"] is not None and _number_of(target, there) != row["number"]:
            known.renumbered.add(row["id"])
        _merge_slices(source, target, row["id"], known)


def _same_truth(target: Session, row: RowMapping, known: KnownAs) -> int | None:
    """The version that says the same: logged with this content, or the same correction."""
    table = table_of(TruthVersionRow)
    if row["parent_id"] is None:
        found = rows_of(
            target,
            table,
            dataset_id=known.datasets[row["dataset_id"]],
            digest=row["digest"],
            origin="logged",
        )
        return int(found[0]["id"]) if found else None
    found = rows_of(target, table, parent_id=known.truths[row["parent_id"]])
    if found and found[0]["digest"] != row["digest"]:
        raise Conflict(
            f"truth version {found[0]['number']} and the imported version {row['number']} "
            "correct the same labels in different ways.",
            field="truth",
            hint="Nothing was imported. Settle the labels on one side first, or import it as "
            "a project of another name (--as).",
        )
    return int(found[0]["id"]) if found else None


def _insert_truth(source: Session, target: Session, row: RowMapping, known: KnownAs) -> int:
    table = table_of(TruthVersionRow)
    dataset_id = known.datasets[row["dataset_id"]]
    newest = target.scalar(
        select(func.max(table.c.number)).where(table.c.dataset_id == dataset_id)
    )
    parent = row["parent_id"]
    truth_id = insert_row(
        target,
        table,
        row,
        known,
        dataset_id=dataset_id,
        number=(newest or 0) + 1,
        parent_id=None if parent is None else known.truths[parent],
        # A first version names itself, once it has an id; references are checked at the commit.
        root_id=0 if parent is None else known.truths[row["root_id"]],
    )
    if parent is None:
        target.execute(update(table).where(table.c.id == truth_id).values(root_id=truth_id))
    chunks = table_of(TruthChunkRow)
    for chunk in each_row_of(source, chunks, truth_version_id=row["id"]):
        copy_row(target, chunks, chunk, known, truth_version_id=truth_id)
    return truth_id


def _number_of(target: Session, truth_id: int) -> int | None:
    table = table_of(TruthVersionRow)
    return target.scalar(select(table.c.number).where(table.c.id == truth_id))


def _merge_slices(source: Session, target: Session, truth_id: int, known: KnownAs) -> None:
    table = table_of(TruthSliceRow)
    there = known.truths[truth_id]
    for row in each_row_of(source, table, truth_version_id=truth_id):
        same = rows_of(target, table, truth_version_id=there, name=row["name"])
        if not same:
            copy_row(target, table, row, known, truth_version_id=there)
        elif (same[0]["levels"], same[0]["codes"]) != (row["levels"], row["codes"]):
            raise Conflict(
                f"slice column {row['name']!r} is there with other values.",
                field="slices",
                hint="Nothing was imported. Values of a slice belong to the samples; import it "
                "as a project of another name (--as).",
            )
