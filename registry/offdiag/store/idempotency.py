"""Statements on answers that are kept for requests that are sent again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from offdiag.store.models import StoredResponseRow


@dataclass(frozen=True, slots=True)
class ResponseKey:
    """Whose key it is, the key, and the digest of what was asked with it."""

    scope: str
    key: str
    digest: str


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """What is known of a key; without a status the request is being worked on."""

    digest: str
    claimed_at: datetime
    status: int | None
    body: str | None


def find_response(session: Session, key: ResponseKey) -> StoredResponse | None:
    """What is known of a key."""
    row = session.get(StoredResponseRow, (key.scope, key.key), populate_existing=True)
    return (
        None if row is None else StoredResponse(row.digest, row.claimed_at, row.status, row.body)
    )


def claim(session: Session, key: ResponseKey, *, now: datetime) -> bool:
    """Take a key for a request; returns False where another request has it."""
    row = {"scope": key.scope, "key": key.key, "digest": key.digest, "claimed_at": now}
    try:
        with session.begin_nested():
            session.execute(insert(StoredResponseRow).values(row))
    except IntegrityError:
        return False
    return True


def keep(session: Session, key: ResponseKey, *, status: int, body: str) -> None:
    """Keep the answer to the request that has the key."""
    session.execute(
        update(StoredResponseRow)
        .where(StoredResponseRow.scope == key.scope, StoredResponseRow.key == key.key)
        .values(status=status, body=body)
    )


def release(session: Session, key: ResponseKey) -> None:
    """Give a key back that was taken and not answered."""
    session.execute(
        delete(StoredResponseRow).where(
            StoredResponseRow.scope == key.scope,
            StoredResponseRow.key == key.key,
            StoredResponseRow.status.is_(None),
        )
    )


def forget(session: Session, key: ResponseKey, *, claimed_at: datetime) -> None:
    """Forget a key as it was taken at a moment; one that was taken since stays."""
    session.execute(
        delete(StoredResponseRow).where(
            StoredResponseRow.scope == key.scope,
            StoredResponseRow.key == key.key,
            StoredResponseRow.claimed_at == claimed_at,
        )
    )


def remove_responses(session: Session, *, before: datetime) -> int:
    """Forget the keys that were taken before a moment; says how many there were."""
    gone = session.execute(
        delete(StoredResponseRow)
        .where(StoredResponseRow.claimed_at < before)
        .returning(StoredResponseRow.key)
    )
    return len(gone.all())
