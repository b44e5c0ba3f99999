"""Statements on the samples of ground truth: stored once per content, shared by runs.

Versions that descend from one another hold the same samples. Their identifiers are therefore
stored with the first one only; the others are just labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.inputs.ids import SampleIds, joined
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import count_classes, count_labelled
from offdiag.store import codec
from offdiag.store.ids_codec import decode_ids, encode_ids
from offdiag.store.models import TruthChunkRow, TruthVersionRow
from offdiag.store.truth_versions import TruthRecord, get_truth, lock_truths

IdKind = Literal["position", "int", "text"]

_ITSELF = 0
"""Stands for the id of a row that does not have one yet; references are checked at the commit."""


@dataclass(frozen=True, slots=True)
class NewTruth:
    """Content of a truth version to be stored, in canonical order.

    `actual` has the code `n_classes` where a sample has no label; it holds packed sets where
    samples carry sets of labels. A version that corrects a
    `parent` says for what `reason`, and has no identifiers of its own.
    """

    digest: str
    actual: Codes
    ids: SampleIds | None
    n_classes: int
    parent: TruthRecord | None = None
    reason: str | None = None

    @property
    def class_counts(self) -> NDArray[np.int64]:
        """Labelled samples of each class, or with each label in their set, (n_classes,)."""
        return count_classes(self.actual, self.n_classes)

    @property
    def id_kind(self) -> str:
        if self.parent is not None:
            return self.parent.id_kind
        return "position" if self.ids is None else self.ids.kind


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
    lock_truths(session, dataset_id)
    newest = session.scalar(
        select(func.max(TruthVersionRow.number)).where(TruthVersionRow.dataset_id == dataset_id)
    )
    row = TruthVersionRow(
        dataset_id=dataset_id,
        number=(newest or 0) + 1,
        digest=truth.digest,
        n_samples=len(truth.actual),
        n_labelled=count_labelled(truth.actual, truth.n_classes),
        id_kind=truth.id_kind,
        class_counts=truth.class_counts.tolist(),
        origin="logged" if truth.parent is None else "revised",
        parent_id=None if truth.parent is None else truth.parent.id,
        root_id=_ITSELF if truth.parent is None else truth.parent.root_id,
        reason=truth.reason,
        author=author,
        created_at=now,
    )
    session.add(row)
    session.flush()  # The chunks need the id, and a first version itself does.
    if truth.parent is None:
        row.root_id = row.id
    _insert_chunks(session, row.id, truth, chunk_size)
    return get_truth(session, row.id)


def _insert_chunks(session: Session, truth_id: int, truth: NewTruth, chunk_size: int) -> None:
    for seq, start in enumerate(range(0, len(truth.actual), chunk_size)):
        stop = start + chunk_size
        codes = codec.encode_codes(truth.actual[start:stop])
        ids = None if truth.ids is None else encode_ids(truth.ids.slice(start, stop))
        session.add(
            TruthChunkRow(
                truth_version_id=truth_id,
                seq=seq,
                n=len(truth.actual[start:stop]),
                dtype=codec.code_type(truth.actual),
                codec=codec.code_codec(truth.actual),
                codes=codes,
                sample_ids=ids,
                sha256=codec.sha256_hex(codes, ids or b""),
            )
        )
    session.flush()  # Constraint errors belong to this statement.


def truth_codes(session: Session, truth_id: int) -> Codes:
    """All actual codes, or packed sets, of a truth version in canonical order."""
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
        .where(TruthChunkRow.truth_version_id == truth.root_id)
        .order_by(TruthChunkRow.seq)
    ).all()
    return joined([decode_ids(blob, truth.id_kind) for blob in blobs if blob is not None])
