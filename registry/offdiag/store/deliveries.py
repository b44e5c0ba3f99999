"""Statements on deliveries: the sending of one report edition to one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Text,
    and_,
    cast,
    exists,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.orm import Session

from offdiag.store.models import DeliveryRow, WorkRow
from offdiag.store.models.base import record_as
from offdiag.store.models.jobs import DELIVERY_KEY


class DeliveryState(StrEnum):
    """The state of a delivery. `refused` was never tried: settings or rules forbid it."""

    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    """A delivery as the rest of the program sees it.

    `error` is that of the latest attempt. `next_attempt` is by the clock of the database, None
    unless the delivery waits for one.
    """

    id: int
    edition_id: int
    target: Mapping[str, Any]
    state: DeliveryState
    attempts: int
    error: str | None
    created_at: datetime
    sent_at: datetime | None
    next_attempt: datetime | None


def insert_delivery(
    session: Session, *, edition_id: int, target: Mapping[str, Any], now: datetime
) -> int:
    """Insert a pending delivery and return its id."""
    row = DeliveryRow(
        edition_id=edition_id,
        target=dict(target),
        state=DeliveryState.PENDING,
        attempts=0,
        created_at=now,
    )
    session.add(row)
    session.flush()  # The job of the delivery needs the id.
    return row.id


def find_delivery(session: Session, delivery_id: int) -> DeliveryRecord | None:
    row = session.execute(_deliveries().where(DeliveryRow.id == delivery_id)).one_or_none()
    return None if row is None else _record(row)


def deliveries_of(session: Session, edition_ids: Sequence[int]) -> dict[int, list[DeliveryRecord]]:
    """Deliveries by edition, in the order in which they were requested."""
    rows = session.execute(
        _deliveries().where(DeliveryRow.edition_id.in_(edition_ids)).order_by(DeliveryRow.id)
    )
    found: dict[int, list[DeliveryRecord]] = {edition_id: [] for edition_id in edition_ids}
    for row in rows:
        delivery = _record(row)
        found[delivery.edition_id].append(delivery)
    return found


def note_attempt(session: Session, delivery_id: int, *, state: DeliveryState, error: str) -> None:
    """Record a failed attempt."""
    session.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery_id, DeliveryRow.state == DeliveryState.PENDING)
        .values(state=state, attempts=DeliveryRow.attempts + 1, error=error)
    )


def mark_sent(session: Session, delivery_id: int, now: datetime) -> None:
    session.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery_id)
        .values(
            state=DeliveryState.SENT, attempts=DeliveryRow.attempts + 1, error=None, sent_at=now
        )
    )


def mark_failed(session: Session, delivery_id: int, error: str) -> None:
    """Mark a delivery as failed; the error of its latest attempt is more specific than `error`."""
    session.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery_id, DeliveryRow.state == DeliveryState.PENDING)
        .values(state=DeliveryState.FAILED, error=func.coalesce(DeliveryRow.error, error))
    )


def mark_pending(session: Session, delivery_id: int) -> None:
    """Let a failed delivery be tried again."""
    given_up = (DeliveryState.FAILED, DeliveryState.REFUSED)
    session.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery_id, DeliveryRow.state.in_(given_up))
        .values(state=DeliveryState.PENDING)
    )


def deliveries_without_work(session: Session, *, limit: int) -> list[int]:
    """Ids of pending deliveries without a job, oldest first."""
    asked = exists().where(_is_its_job())
    return list(
        session.scalars(
            select(DeliveryRow.id)
            .where(DeliveryRow.state == DeliveryState.PENDING, ~asked)
            .order_by(DeliveryRow.id)
            .limit(limit)
        )
    )


def _is_its_job() -> ColumnElement[bool]:
    return WorkRow.key == DELIVERY_KEY + cast(DeliveryRow.id, Text)


def _deliveries() -> Select[DeliveryRow, float | None]:
    # A literal, because a generic plan with a bound parameter cannot use the partial index.
    waits = WorkRow.state == literal_column("'todo'")
    job = and_(DeliveryRow.state == DeliveryState.PENDING, _is_its_job(), waits)
    return select(DeliveryRow, WorkRow.due).outerjoin(WorkRow, job)


def _record(row: Row[DeliveryRow, float | None]) -> DeliveryRecord:
    delivery, due = row
    return record_as(
        DeliveryRecord,
        delivery,
        state=DeliveryState(delivery.state),
        next_attempt=None if due is None else datetime.fromtimestamp(due, UTC),
    )
