"""Statements on versions of ground truth, without their samples."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.store.models import DatasetRow, TruthVersionRow


@dataclass(frozen=True, slots=True)
class TruthRecord:
    """A truth version without its samples. `class_counts` is in label order.

    `root_id` is the first version of its lineage, `parent_id` the version it corrects.
    """

    id: int
    dataset_id: int
    number: int
    digest: str
    n_samples: int
    n_labelled: int
    id_kind: str
    class_counts: tuple[int, ...]
    parent_id: int | None
    root_id: int
    reason: str | None
    author: str | None
    created_at: datetime

    @property
    def is_partial(self) -> bool:
        """Whether some samples have no label yet."""
        return self.n_labelled < self.n_samples


def find_truth(session: Session, *, dataset_id: int, digest: str) -> TruthRecord | None:
    """The newest truth version of a dataset that has this content."""
    return _record(
        session.scalar(
            select(TruthVersionRow)
            .where(TruthVersionRow.dataset_id == dataset_id, TruthVersionRow.digest == digest)
            .order_by(TruthVersionRow.number.desc())
            .limit(1)
        )
    )


def latest_truth(session: Session, dataset_id: int) -> TruthRecord | None:
    """The newest truth version of a dataset."""
    return _record(
        session.scalar(
            select(TruthVersionRow)
            .where(TruthVersionRow.dataset_id == dataset_id)
            .order_by(TruthVersionRow.number.desc())
            .limit(1)
        )
    )


def numbered_truth(session: Session, *, dataset_id: int, number: int) -> TruthRecord | None:
    """The truth version of a dataset with this number."""
    return _record(
        session.scalar(
            select(TruthVersionRow).where(
                TruthVersionRow.dataset_id == dataset_id, TruthVersionRow.number == number
            )
        )
    )


def head_of(session: Session, truth: TruthRecord) -> TruthRecord:
    """The version that counts in the lineage of a version: the newest one."""
    head = _record(
        session.scalar(
            select(TruthVersionRow)
            .where(
                TruthVersionRow.dataset_id == truth.dataset_id,
                TruthVersionRow.root_id == truth.root_id,
            )
            .order_by(TruthVersionRow.number.desc())
            .limit(1)
        )
    )
    return head or truth


def get_truth(session: Session, truth_id: int) -> TruthRecord:
    """A truth version by id, which must exist."""
    record = _record(session.get_one(TruthVersionRow, truth_id))
    if record is None:
        raise LookupError(truth_id)
    return record


def all_truths(session: Session) -> list[TruthRecord]:
    """Every truth version of every dataset."""
    rows = session.scalars(select(TruthVersionRow).order_by(TruthVersionRow.id))
    return [record for row in rows if (record := _record(row)) is not None]


def lock_truths(session: Session, dataset_id: int) -> None:
    """Let nobody else add a truth version to this dataset until the transaction ends."""
    session.execute(
        select(DatasetRow.id).where(DatasetRow.id == dataset_id).with_for_update(key_share=True)
    )


def _record(row: TruthVersionRow | None) -> TruthRecord | None:
    if row is None:
        return None
    return TruthRecord(
        id=row.id,
        dataset_id=row.dataset_id,
        number=row.number,
        digest=row.digest,
        n_samples=row.n_samples,
        n_labelled=row.n_labelled,
        id_kind=row.id_kind,
        class_counts=tuple(row.class_counts),
        parent_id=row.parent_id,
        root_id=row.root_id,
        reason=row.reason,
        author=row.author,
        created_at=row.created_at,
    )
