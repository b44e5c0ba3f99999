"""Statements on labels that open runs logged, which are stored until these are finished."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from offdiag.inputs.ids import SampleIds
from offdiag.inputs.labels import Codes
from offdiag.store import codec
from offdiag.store.codec import decode_ids, encode_ids
from offdiag.store.models import PendingTruthRow

_NEW = insert(PendingTruthRow)


@dataclass(frozen=True, slots=True)
class PendingTruth:
    """Labels that an open run logged with one chunk."""

    seq: int
    actual: Codes | None
    ids: SampleIds | None


def insert_pending(
    session: Session, *, run_id: str, seq: int, actual: Codes | None, ids: SampleIds | None
) -> None:
    """Store what a chunk says about the labels until the run is finished."""
    session.connection().execute(
        _NEW,
        {
            "run_id": run_id,
            "seq": seq,
            "dtype": None if actual is None else codec.code_type(actual),
            "codes": None if actual is None else codec.encode_codes(actual),
            "id_kind": "position" if ids is None else ids.kind,
            "sample_ids": None if ids is None else encode_ids(ids),
        },
    )


def pending_parts(session: Session, run_id: str) -> list[PendingTruth]:
    """What the chunks of an open run said about the labels, in order."""
    rows = session.scalars(
        select(PendingTruthRow)
        .where(PendingTruthRow.run_id == run_id)
        .order_by(PendingTruthRow.seq)
    )
    return [
        PendingTruth(
            row.seq,
            None
            if row.codes is None or row.dtype is None
            else codec.decode_codes(row.codes, row.dtype),
            None if row.sample_ids is None else decode_ids(row.sample_ids, row.id_kind),
        )
        for row in rows
    ]


def delete_pending(session: Session, run_id: str) -> None:
    """Remove the labels of a run after they were registered."""
    session.execute(delete(PendingTruthRow).where(PendingTruthRow.run_id == run_id))
