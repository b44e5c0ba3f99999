"""Statements on stored responses to requests that may be sent again (idempotency keys)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from offdiag.store.models import StoredResponseRow


@dataclass(frozen=True, slots=True)
class ResponseKey:
    """The user of a key, the key, and the digest of the request that it was sent with."""

    scope: str
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """What is stored for a key; without a status the request is still being handled."""

    digest: str
    claimed_at: datetime
    status: int | None
    body: str | None


def find_response(session: Session, key: ResponseKey) -> StoredResponse | None:
    """What is stored for a key, None if nothing is."""
    row = session.get(StoredResponseRow, (key.scope, key.key), populate_existing=True)
    return (
        None if row is None else StoredResponse(row.digest, row.claimed_at, row.status, row.body)
    )


def claim(session: Session, key: ResponseKey, *, now: datetime) -> bool:
    """Reserve a key for a request; returns False if another request has it."""
    row = {"scope": key.scope, "key": key.key, "digest": key.digest, "claimed_at": now}
    try:
        with session.begin_nested():
            session.execute(insert(StoredResponseRow).values(row))
    except IntegrityError:
        return False
    return True


def keep(session: Session, key: ResponseKey, *, status: int, body: str) -> None:
    """Store the response to the request that has the key."""
    session.execute(
        update(StoredResponseRow)
        .where(StoredResponseRow.scope == key.scope, StoredResponseRow.key == key.key)
        .values(status=status, body=body)
    )


def release(session: Session, key: ResponseKey) -> None:
    """Release a key that was reserved but got no response."""
    session.execute(
        delete(StoredResponseRow).where(
            StoredResponseRow.scope == key.scope,
            StoredResponseRow.key == key.key,
            StoredResponseRow.status.is_(None),
        )
    )


def forget(session: Session, key: ResponseKey, *, claimed_at: datetime) -> None:
    """Remove a key that was reserved at this moment; one that was reserved since then stays."""
    session.execute(
        delete(StoredResponseRow).where(
            StoredResponseRow.scope == key.scope,
            StoredResponseRow.key == key.key,
            StoredResponseRow.claimed_at == claimed_at,
        )
    )


def remove_responses(session: Session, *, before: datetime) -> int:
    """Remove keys that were reserved before a moment; returns how many there were."""
    gone = session.execute(
        delete(StoredResponseRow)
        .where(StoredResponseRow.claimed_at < before)
        .returning(StoredResponseRow.key)
    )
    return len(gone.all())
