"""Statements on slice columns, and on what was counted by them.

A lineage of label versions stores its slice columns once, with its first version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, case, delete, null, select, union, update
from sqlalchemy.orm import Session

from offdiag.inputs.slice_columns import SliceColumn, SliceColumns
from offdiag.metrics.slices.counts import COUNTS_VERSION, SliceCounts
from offdiag.store import codec
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.models import (
    CountedSliceRow,
    EvaluationRow,
    PendingSliceRow,
    RunRow,
    SliceCountsRow,
    TruthSliceRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import WITHOUT_FLAGS


@dataclass(frozen=True, slots=True)
class SliceChoices:
    """The columns that samples of a lineage can be sliced by, and those that were requested."""

    levels: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, SliceColumn]


def slice_columns(session: Session, root_id: int) -> dict[str, SliceColumn]:
    """All columns of the samples of a lineage, by name."""
    rows = session.scalars(
        select(TruthSliceRow)
        .where(TruthSliceRow.truth_version_id == root_id)
        .order_by(TruthSliceRow.name)
    )
    return {row.name: column_of(row) for row in rows}


def slice_names(session: Session, dataset_id: int) -> list[str]:
    """Names of all slice columns of a dataset: of its samples, and of its counted runs."""
    of_samples = (
        select(TruthSliceRow.name)
        .join(TruthVersionRow, TruthVersionRow.id == TruthSliceRow.truth_version_id)
        .where(TruthVersionRow.dataset_id == dataset_id)
    )
    of_counts = (
        select(CountedSliceRow.name)
        .join(RunRow, RunRow.id == CountedSliceRow.run_id)
        .where(RunRow.dataset_id == dataset_id)
    )
    return sorted(session.scalars(union(of_samples, of_counts)))


def slice_choices(session: Session, root_id: int, names: Collection[str]) -> SliceChoices:
    """All slice columns of a lineage by name; those in `names` with their values by sample."""
    is_wanted = TruthSliceRow.name.in_(names)
    rows = session.execute(
        select(
            TruthSliceRow.name,
            TruthSliceRow.levels,
            TruthSliceRow.dtype,
            TruthSliceRow.codec,
            case((is_wanted, TruthSliceRow.codes), else_=null()),
        )
        .where(TruthSliceRow.truth_version_id == root_id)
        .order_by(TruthSliceRow.name)
    ).all()
    return SliceChoices(
        {name: slice_values(levels, kind) for name, levels, _, kind, _ in rows},
        {
            name: SliceColumn(tuple(levels), codec.decode_codes(codes, dtype), kind == codec.TAGS)
            for name, levels, dtype, kind, codes in rows
            if codes is not None
        },
    )


def slice_values(levels: Sequence[str], kind: str) -> tuple[str, ...]:
    """The values that a slice of a stored column can have, in reading order."""
    none = np.zeros(0, dtype=np.uint8)
    return SliceColumn(tuple(levels), none, kind == codec.TAGS).choices


def replace_slice_column(
    session: Session, root_id: int, name: str, column: SliceColumn, now: datetime
) -> None:
    """Replace the stored values of a column, after more of them became known."""
    session.execute(
        update(TruthSliceRow)
        .where(TruthSliceRow.truth_version_id == root_id, TruthSliceRow.name == name)
        .values(created_at=now, **stored_column(column))
    )


def columns_digest(session: Session, root_id: int) -> str:
    """A digest that changes with the slice columns of a lineage."""
    rows = session.execute(
        select(TruthSliceRow.name, TruthSliceRow.created_at)
        .where(TruthSliceRow.truth_version_id == root_id)
        .order_by(TruthSliceRow.name)
    )
    known = "".join(f"{name}\n{created.isoformat()}\n" for name, created in rows)
    return _version() + hashlib.sha256(known.encode()).hexdigest()


def digest_of_counted_columns() -> str:
    """The digest of columns of counted samples, which belong to their run and never change."""
    return f"{_version()}columns of the run"


def _version() -> str:
    """The prefix of digests of the current way of counting."""
    return f"{COUNTS_VERSION}:"


def insert_slice_column(
    session: Session, root_id: int, name: str, column: SliceColumn, now: datetime
) -> None:
    """Store a column whose values are in the order of the labels."""
    session.add(
        TruthSliceRow(truth_version_id=root_id, name=name, created_at=now, **stored_column(column))
    )
    session.flush()  # Constraint errors should be raised by this statement.


def insert_pending_slices(session: Session, run_id: str, seq: int, columns: SliceColumns) -> None:
    """Store the values that came with a chunk until the run is finished."""
    for name, column in columns.items():
        session.add(PendingSliceRow(run_id=run_id, seq=seq, name=name, **stored_column(column)))
    session.flush()  # As above.


def pending_slices(session: Session, run_id: str) -> dict[int, dict[str, SliceColumn]]:
    """The columns of an open run by number of the chunk, for chunks that have any."""
    found: dict[int, dict[str, SliceColumn]] = {}
    for row in session.scalars(
        select(PendingSliceRow)
        .where(PendingSliceRow.run_id == run_id)
        .order_by(PendingSliceRow.seq, PendingSliceRow.name)
    ):
        found.setdefault(row.seq, {})[row.name] = column_of(row)
    return found


def delete_pending_slices(session: Session, run_id: str) -> None:
    """Remove the columns of a run after they were stored with its label version."""
    session.execute(delete(PendingSliceRow).where(PendingSliceRow.run_id == run_id))


def keep_slice_counts(
    session: Session, evaluation_id: int, digest: str, counts: SliceCounts, *, with_flags: bool
) -> None:
    """Store the slice counts of an evaluation, replacing older ones.

    `with_flags` says that the flags of the run were raised by the same columns.
    """
    numbers = np.concatenate([counts.total[np.newaxis], counts.numbers])
    narrow = np.min_scalar_type(int(numbers.max(initial=0)))
    session.execute(delete(SliceCountsRow).where(SliceCountsRow.evaluation_id == evaluation_id))
    session.add(
        SliceCountsRow(
            evaluation_id=evaluation_id,
            columns_digest=digest if with_flags else digest + WITHOUT_FLAGS,
            columns=[{"name": name, "choices": list(choices)} for name, choices in counts.columns],
            n_slices=len(counts),
            n_parts=len(counts.total),
            n_left_out=counts.n_left_out,
            dtype=narrow.str[1:],
            members=counts.members.astype("<i4").tobytes(),
            numbers=numbers.astype(narrow.newbyteorder("<")).tobytes(),
        )
    )
    session.flush()  # Constraint errors should be raised by this statement.


def kept_slice_counts(session: Session, run_id: str) -> SliceCounts | None:
    """The slice counts of a run's evaluation, in one statement; None if there are none.

    New columns delete them, so stored counts are always those of the existing columns. Counts of
    another `COUNTS_VERSION` are ignored.
    """
    row = session.scalar(
        select(SliceCountsRow)
        .join(EvaluationRow, EvaluationRow.id == SliceCountsRow.evaluation_id)
        .where(
            EvaluationRow.run_id == run_id,
            counts_for_its_run(),
            counted_now(),
        )
    )
    return None if row is None else _counts(row)


def counted_now() -> ColumnElement[bool]:
    """Whether counts are of the current `COUNTS_VERSION`."""
    return SliceCountsRow.columns_digest.startswith(_version())


def drop_slice_counts(session: Session, root_id: int) -> None:
    """Remove what was counted by the columns of a lineage."""
    versions = select(TruthVersionRow.id).where(TruthVersionRow.root_id == root_id)
    session.execute(
        delete(SliceCountsRow).where(
            SliceCountsRow.evaluation_id.in_(
                select(EvaluationRow.id).where(EvaluationRow.truth_version_id.in_(versions))
            )
        )
    )


def _counts(row: SliceCountsRow) -> SliceCounts:
    stored = np.frombuffer(row.numbers, np.dtype(row.dtype).newbyteorder("<"))
    numbers = stored.astype(np.int64).reshape(row.n_slices + 1, row.n_parts, -1)
    return SliceCounts(
        tuple((each["name"], tuple(each["choices"])) for each in row.columns),
        np.frombuffer(row.members, "<i4").reshape(-1, 2),
        numbers[1:],
        numbers[0],
        row.n_left_out,
    )


def stored_column(column: SliceColumn) -> dict[str, Any]:
    """The values of a column in each table that has slice columns."""
    return {
        "levels": list(column.levels),
        "dtype": column.codes.dtype.str[1:],
        "codec": codec.TAGS if column.of_tags else codec.RAW,
        "codes": codec.encode_codes(column.codes),
    }


def column_of(row: TruthSliceRow | PendingSliceRow | CountedSliceRow) -> SliceColumn:
    """The column that was stored in a row."""
    codes = codec.decode_codes(row.codes, row.dtype)
    return SliceColumn(tuple(row.levels), codes, row.codec == codec.TAGS)
