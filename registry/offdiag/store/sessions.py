"""Statements on credentials of users and programs: browser sessions and API tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, delete, or_, select, update
from sqlalchemy.orm import Session

from offdiag.domain.access import Grant, Role
from offdiag.store.models import ProjectRow, SessionRow, TokenRow, UserRow
from offdiag.store.models.base import record_as


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session of a user who is not disabled."""

    user_id: int
    user: str
    created_at: datetime
    seen_at: datetime


def add_session(session: Session, digest: str, user_id: int, now: datetime) -> None:
    session.add(SessionRow(digest=digest, user_id=user_id, created_at=now, seen_at=now))


def find_session(session: Session, digest: str) -> SessionRecord | None:
    row = session.execute(
        select(SessionRow.user_id, UserRow.name, SessionRow.created_at, SessionRow.seen_at)
        .join(UserRow, UserRow.id == SessionRow.user_id)
        .where(SessionRow.digest == digest, UserRow.disabled_at.is_(None))
    ).one_or_none()
    return None if row is None else SessionRecord(*row)


def touch_session(session: Session, digest: str, now: datetime) -> None:
    """Record when a session was last used."""
    session.execute(update(SessionRow).where(SessionRow.digest == digest).values(seen_at=now))


def end_session(session: Session, digest: str) -> None:
    session.execute(delete(SessionRow).where(SessionRow.digest == digest))


def end_sessions_of(session: Session, user_id: int, *, but: str | None = None) -> None:
    """End all sessions of a user, except the one with this digest."""
    ended = delete(SessionRow).where(SessionRow.user_id == user_id)
    session.execute(ended if but is None else ended.where(SessionRow.digest != but))


def end_sessions_before(session: Session, *, seen: datetime, created: datetime) -> None:
    """Remove sessions that were last used before one moment or created before another."""
    session.execute(
        delete(SessionRow).where(or_(SessionRow.seen_at < seen, SessionRow.created_at < created))
    )


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """A token without its secret. `digest` is compared with that of a secret."""

    id: int
    name: str
    prefix: str
    digest: str
    owner_id: int
    owner: str
    owner_disabled: bool
    scope: Grant
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None

    def is_valid(self, now: datetime) -> bool:
        """Whether it gives access at a moment."""
        return (
            self.revoked_at is None
            and not self.owner_disabled
            and (self.expires_at is None or now < self.expires_at)
        )


def add_token(
    session: Session,
    *,
    name: str,
    prefix: str,
    digest: str,
    owner_id: int,
    role: Role,
    project_id: int | None,
    now: datetime,
    expires_at: datetime | None,
) -> int:
    """Insert a token and return its number."""
    row = TokenRow(
        name=name,
        prefix=prefix,
        digest=digest,
        owner_id=owner_id,
        role=role,
        project_id=project_id,
        created_at=now,
        expires_at=expires_at,
        used_at=None,
        revoked_at=None,
    )
    session.add(row)
    session.flush()  # The number is part of the answer.
    return row.id


def find_token(session: Session, digest: str) -> TokenRecord | None:
    """A token by the digest of its secret, valid or not."""
    row = session.execute(_tokens().where(TokenRow.digest == digest)).one_or_none()
    return None if row is None else _record(*row)


def get_token(session: Session, token_id: int) -> TokenRecord | None:
    row = session.execute(_tokens().where(TokenRow.id == token_id)).one_or_none()
    return None if row is None else _record(*row)


def list_tokens(session: Session, *, owner_id: int | None = None) -> list[TokenRecord]:
    """Tokens of one user or of all, the newest first."""
    wanted = _tokens().order_by(TokenRow.id.desc())
    if owner_id is not None:
        wanted = wanted.where(TokenRow.owner_id == owner_id)
    return [_record(*row) for row in session.execute(wanted)]


def note_use(session: Session, token_id: int, now: datetime) -> None:
    """Record when a token was last used."""
    session.execute(update(TokenRow).where(TokenRow.id == token_id).values(used_at=now))


def revoke(session: Session, token_id: int, now: datetime) -> None:
    """Revoke a token; one that was revoked before keeps its time."""
    session.execute(
        update(TokenRow)
        .where(TokenRow.id == token_id, TokenRow.revoked_at.is_(None))
        .values(revoked_at=now)
    )


def _tokens() -> Select[TokenRow, UserRow, str]:
    # The table and not its rows, which a restricted session would not find: the token would seem
    # to be for all projects.
    project = ProjectRow.__table__
    return (
        select(TokenRow, UserRow, project.c.name)
        .join(UserRow, UserRow.id == TokenRow.owner_id)
        .outerjoin(project, project.c.id == TokenRow.project_id)
    )


def _record(token: TokenRow, owner: UserRow, project: str | None) -> TokenRecord:
    return record_as(
        TokenRecord,
        token,
        owner_id=owner.id,
        owner=owner.name,
        owner_disabled=owner.disabled_at is not None,
        scope=Grant(Role(token.role), project),
    )
