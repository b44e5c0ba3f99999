"""Statements on users and their roles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, and_, delete, exists, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from offdiag.domain.access import Grant, Role
from offdiag.store.models import MembershipRow, ProjectRow, UserRow
from offdiag.store.models.base import lock_row, record_as

_MANAGES = and_(MembershipRow.project_id.is_(None), MembershipRow.role == Role.ADMIN)


@dataclass(frozen=True, slots=True)
class UserRecord:
    """A user as the rest of the program sees it, without the password hash."""

    id: int
    name: str
    display_name: str | None
    email: str | None
    has_password: bool
    disabled_at: datetime | None
    created_at: datetime
    signed_in_at: datetime | None
    grants: tuple[Grant, ...]


def add_user(
    session: Session,
    *,
    name: str,
    display_name: str | None,
    email: str | None,
    password_hash: str | None,
    now: datetime,
) -> int | None:
    """Insert a user without any role; None if the name is taken."""
    row = UserRow(
        name=name,
        display_name=display_name,
        email=email,
        password_hash=password_hash,
        disabled_at=None,
        created_at=now,
        signed_in_at=None,
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        return None
    return row.id


def find_user(session: Session, name: str) -> UserRecord | None:
    """A user by name, which must match exactly."""
    row = session.scalar(select(UserRow).where(UserRow.name == name))
    return None if row is None else _record(row, grants_of(session, row.id))


def get_user(session: Session, user_id: int) -> UserRecord | None:
    row = session.get(UserRow, user_id)
    return None if row is None else _record(row, grants_of(session, user_id))


def list_users(session: Session) -> list[UserRecord]:
    """Users by name with their roles, in two statements."""
    rows = session.scalars(select(UserRow).order_by(UserRow.name)).all()
    roles: dict[int, list[Grant]] = defaultdict(list)
    for row in session.execute(_grants()):
        roles[row.user_id].append(Grant(Role(row.role), row.project))
    return [_record(row, tuple(roles[row.id])) for row in rows]


def grants_of(session: Session, user_id: int) -> tuple[Grant, ...]:
    """The roles of a user, the role in all projects first."""
    rows = session.execute(_grants().where(MembershipRow.user_id == user_id))
    return tuple(Grant(Role(row.role), row.project) for row in rows)


def password_hash(session: Session, name: str) -> tuple[int, str] | None:
    """Id and password hash of a user who may sign in with a password."""
    row = session.execute(
        select(UserRow.id, UserRow.password_hash).where(
            UserRow.name == name,
            UserRow.password_hash.is_not(None),
            UserRow.disabled_at.is_(None),
        )
    ).one_or_none()
    return None if row is None or row.password_hash is None else (row.id, row.password_hash)


def set_password_hash(session: Session, user_id: int, text: str) -> None:
    session.execute(update(UserRow).where(UserRow.id == user_id).values(password_hash=text))


def set_disabled(session: Session, user_id: int, at: datetime | None) -> None:
    """Disable a user from a moment on, or enable them again."""
    session.execute(update(UserRow).where(UserRow.id == user_id).values(disabled_at=at))


def note_sign_in(session: Session, user_id: int, at: datetime) -> None:
    """Record when a user last signed in."""
    session.execute(update(UserRow).where(UserRow.id == user_id).values(signed_in_at=at))


def news_seen_at(session: Session, user_id: int) -> datetime | None:
    """When a user last marked the news as seen."""
    return session.scalar(select(UserRow.news_seen_at).where(UserRow.id == user_id))


def set_news_seen(session: Session, user_id: int, at: datetime) -> None:
    """Record when a user marked the news as seen."""
    session.execute(update(UserRow).where(UserRow.id == user_id).values(news_seen_at=at))


def lock_admins(session: Session) -> None:
    """Prevent other transactions from taking roles from global admins until this one ends."""
    session.execute(
        select(UserRow.id)
        .where(UserRow.id.in_(select(MembershipRow.user_id).where(_MANAGES)))
        .order_by(UserRow.id)
        .with_for_update(key_share=True)
    )


def set_role(session: Session, user_id: int, *, project_id: int | None, role: Role | None) -> None:
    """Set a user's role in a project, or in all projects; None removes it."""
    lock_row(session, UserRow, user_id)
    session.execute(
        delete(MembershipRow).where(
            MembershipRow.user_id == user_id,
            MembershipRow.project_id.is_(None)
            if project_id is None
            else MembershipRow.project_id == project_id,
        )
    )
    if role is not None:
        session.add(MembershipRow(user_id=user_id, project_id=project_id, role=role))
        session.flush()  # The next statement of this transaction must see it.


def replace_roles(
    session: Session, user_id: int, roles: Sequence[tuple[int | None, Role]]
) -> None:
    """Give a user exactly these roles."""
    lock_row(session, UserRow, user_id)
    session.execute(delete(MembershipRow).where(MembershipRow.user_id == user_id))
    session.add_all(
        MembershipRow(user_id=user_id, project_id=project_id, role=role)
        for project_id, role in roles
    )
    session.flush()  # The next statement of this transaction must see them.


def has_admin(session: Session) -> bool:
    """Whether there is an admin of all projects who is not disabled."""
    wanted = (
        select(MembershipRow.id)
        .join(UserRow, UserRow.id == MembershipRow.user_id)
        .where(_MANAGES, UserRow.disabled_at.is_(None))
    )
    return bool(session.scalar(select(exists(wanted))))


def _grants() -> Select[int, str, str]:
    # The table and not its rows, which a restricted session would not find: the role would seem to
    # be for all projects.
    project = ProjectRow.__table__
    return (
        select(MembershipRow.user_id, MembershipRow.role, project.c.name.label("project"))
        .outerjoin(project, project.c.id == MembershipRow.project_id)
        .order_by(project.c.name.is_not(None), project.c.name)
    )


def _record(row: UserRow, grants: tuple[Grant, ...]) -> UserRecord:
    return record_as(UserRecord, row, has_password=row.password_hash is not None, grants=grants)
