"""Statements on ground truth: stored once per content, shared by runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.arrays.ids import SampleIds, joined
from offdiag.arrays.labels import Codes
from offdiag.store import codec
from offdiag.store.ids_codec import decode_ids, encode_ids
from offdiag.store.models import TruthChunkRow, TruthVersionRow

IdKind = Literal["position", "int", "text"]

_ITSELF = 0
"""Stands for the id of a row that does not have one yet; references are checked at the commit."""


@dataclass(frozen=True, slots=True)
class TruthRecord:
    """A truth version without its samples. `class_counts` is in label order."""

    id: int
    dataset_id: int
    number: int
    digest: str
    n_samples: int
    id_kind: str
    class_counts: tuple[int, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewTruth:
    """Content of a truth version to be stored, in canonical order."""

    digest: str
    actual: Codes
    ids: SampleIds | None
    n_classes: int

    @property
    def class_counts(self) -> NDArray[np.int64]:
        """Cases of each class, shape (n_classes,)."""
        return np.bincount(self.actual, minlength=self.n_classes).astype(np.int64)


def find_truth(session: Session, *, dataset_id: int, digest: str) -> TruthRecord | None:
    """The truth version of a dataset that has this content."""
    return _record(
        session.scalar(
            select(TruthVersionRow).where(
                TruthVersionRow.dataset_id == dataset_id, TruthVersionRow.digest == digest
            )
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


def get_truth(session: Session, truth_id: int) -> TruthRecord:
    """A truth version by id, which must exist."""
    record = _record(session.get_one(TruthVersionRow, truth_id))
    if record is None:
        raise LookupError(truth_id)
    return record


def insert_truth(
    session: Session,
    *,
    dataset_id: int,
    truth: NewTruth,
    chunk_size: int,
    author: str | None,
    now: datetime,
) -> TruthRecord:
    """Store a new truth version of a dataset, numbered after the newest one."""
    newest = session.scalar(
        select(func.max(TruthVersionRow.number)).where(TruthVersionRow.dataset_id == dataset_id)
    )
    row = TruthVersionRow(
        dataset_id=dataset_id,
        number=(newest or 0) + 1,
        digest=truth.digest,
        n_samples=len(truth.actual),
        id_kind="position" if truth.ids is None else truth.ids.kind,
        class_counts=truth.class_counts.tolist(),
        origin="logged",
        author=author,
        created_at=now,
        root_id=_ITSELF,
        n_labelled=len(truth.actual),
    )
    session.add(row)
    session.flush()  # The chunks need the id, and so does the row itself.
    row.root_id = row.id
    for seq, start in enumerate(range(0, len(truth.actual), chunk_size)):
        stop = start + chunk_size
        codes = codec.encode_codes(truth.actual[start:stop])
        ids = None if truth.ids is None else encode_ids(truth.ids.slice(start, stop))
        session.add(
            TruthChunkRow(
                truth_version_id=row.id,
                seq=seq,
                n=len(truth.actual[start:stop]),
                dtype=truth.actual.dtype.str[1:],
                codec=codec.RAW,
                codes=codes,
                sample_ids=ids,
                sha256=codec.sha256_hex(codes, ids or b""),
            )
        )
    session.flush()  # Constraint errors belong to this statement.
    return get_truth(session, row.id)


def truth_codes(session: Session, truth_id: int) -> Codes:
    """All actual codes of a truth version in canonical order, shape (n_samples,)."""
    rows = session.execute(
        select(TruthChunkRow.codes, TruthChunkRow.dtype)
        .where(TruthChunkRow.truth_version_id == truth_id)
        .order_by(TruthChunkRow.seq)
    )
    return np.concatenate([codec.decode_codes(codes, dtype) for codes, dtype in rows])


def truth_ids(session: Session, truth: TruthRecord) -> SampleIds | None:
    """All identifiers of a truth version in canonical (sorted) order, None if it has none."""
    if truth.id_kind == "position":
        return None
    blobs: Sequence[bytes | None] = session.scalars(
        select(TruthChunkRow.sample_ids)
        .where(TruthChunkRow.truth_version_id == truth.id)
        .order_by(TruthChunkRow.seq)
    ).all()
    return joined([decode_ids(blob, truth.id_kind) for blob in blobs if blob is not None])


def _record(row: TruthVersionRow | None) -> TruthRecord | None:
    if row is None:
        return None
    return TruthRecord(
        id=row.id,
        dataset_id=row.dataset_id,
        number=row.number,
        digest=row.digest,
        n_samples=row.n_samples,
        id_kind=row.id_kind,
        class_counts=tuple(row.class_counts),
        created_at=row.created_at,
    )
