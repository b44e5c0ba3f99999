"""Statements on the sessions of browsers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from offdiag.store.models import SessionRow, UserRow


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session of somebody who is not locked out."""

    user_id: int
    user: str
    created_at: datetime
    seen_at: datetime


def add_session(session: Session, digest: str, user_id: int, now: datetime) -> None:
    """Begin a session."""
    session.add(SessionRow(digest=digest, user_id=user_id, created_at=now, seen_at=now))


def find_session(session: Session, digest: str) -> SessionRecord | None:
    """A session by the digest of its secret."""
    row = session.execute(
        select(SessionRow.user_id, UserRow.name, SessionRow.created_at, SessionRow.seen_at)
        .join(UserRow, UserRow.id == SessionRow.user_id)
        .where(SessionRow.digest == digest, UserRow.disabled_at.is_(None))
    ).one_or_none()
    return None if row is None else SessionRecord(*row)


def touch_session(session: Session, digest: str, now: datetime) -> None:
    """Keep when a session was last used."""
    session.execute(update(SessionRow).where(SessionRow.digest == digest).values(seen_at=now))


def end_session(session: Session, digest: str) -> None:
    """End one session."""
    session.execute(delete(SessionRow).where(SessionRow.digest == digest))


def end_sessions_of(session: Session, user_id: int, *, but: str | None = None) -> None:
    """End all sessions of a user, but for the one with this digest."""
    ended = delete(SessionRow).where(SessionRow.user_id == user_id)
    session.execute(ended if but is None else ended.where(SessionRow.digest != but))


def end_sessions_before(session: Session, *, seen: datetime, created: datetime) -> None:
    """Forget the sessions that were not used since one moment or began before another."""
    session.execute(
        delete(SessionRow).where(or_(SessionRow.seen_at < seen, SessionRow.created_at < created))
    )
