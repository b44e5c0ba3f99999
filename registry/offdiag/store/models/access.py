"""Tables for users, roles, sessions, tokens, the audit log, and what users and clients store."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.domain.access import Role
from offdiag.store.models.base import IDS_ARE_NEVER_REUSED, Base, Identifier, one_of

ACTOR_KINDS = ("user", "token", "cli", "system")


class UserRow(Base):
    """`password_hash` names its method and parameters; without it the user signs in elsewhere."""

    __tablename__ = "user_account"
    __table_args__ = IDS_ARE_NEVER_REUSED

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    display_name: Mapped[str | None]
    email: Mapped[str | None]
    password_hash: Mapped[str | None]
    disabled_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    signed_in_at: Mapped[datetime | None]
    news_seen_at: Mapped[datetime | None]


class MembershipRow(Base):
    """A role of a user in one project, or in all projects if `project_id` is NULL."""

    __tablename__ = "membership"
    __table_args__ = (
        UniqueConstraint("user_id", "project_id"),
        one_of("role", Role),
        # NULLs are not equal, so the role in all projects needs a constraint of its own.
        Index(
            "uq_membership_user_id_everywhere",
            "user_id",
            unique=True,
            sqlite_where=text("project_id IS NULL"),
            postgresql_where=text("project_id IS NULL"),
        ),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id", ondelete="CASCADE"))
    role: Mapped[str]


class SessionRow(Base):
    """A user's browser session. A cookie without its row is worth nothing.

    `digest` is the SHA-256 of the random text in the cookie.
    """

    __tablename__ = "user_session"
    __table_args__ = (Index(None, "user_id"),)

    digest: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]


class TokenRow(Base):
    """An API token.

    `digest` is the SHA-256 of 256 random bits, `prefix` the beginning of their text, by which
    people recognise a token.
    """

    __tablename__ = "api_token"
    __table_args__ = (
        one_of("role", Role),
        Index(None, "owner_id"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    name: Mapped[str]
    prefix: Mapped[str]
    digest: Mapped[str] = mapped_column(unique=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    role: Mapped[str]
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id", ondelete="CASCADE"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class ShareLinkRow(Base):
    """A link that shows one page to anyone who has it.

    `digest` is the SHA-256 of its secret, `address` the path and query of the page.
    """

    __tablename__ = "share_link"
    __table_args__ = (Index(None, "owner_id"), IDS_ARE_NEVER_REUSED)

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    address: Mapped[str]
    owner_id: Mapped[int] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class AuditEventRow(Base):
    """One change, with its author by name, not by reference: it stays true when they are gone."""

    __tablename__ = "audit_event"
    __table_args__ = (one_of("actor_kind", ACTOR_KINDS), IDS_ARE_NEVER_REUSED)

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    at: Mapped[datetime]
    actor_kind: Mapped[str]
    actor: Mapped[str]
    action: Mapped[str]
    object: Mapped[str]
    project: Mapped[str | None]
    request_id: Mapped[str | None]
    detail: Mapped[dict[str, Any]]


class StoredResponseRow(Base):
    """The response to the request with a key; `status` is empty while it is being handled.

    `scope` is whose key it is, `digest` that of the request.
    """

    __tablename__ = "kept_answer"
    __table_args__ = (Index(None, "claimed_at"),)

    scope: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str]
    claimed_at: Mapped[datetime]
    status: Mapped[int | None]
    body: Mapped[str | None]


class SavedViewRow(Base):
    """A saved view. `slug` is the end of its address, `page` a path, `query` a query string."""

    __tablename__ = "saved_view"
    __table_args__ = (UniqueConstraint("page", "name"),)

    slug: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    page: Mapped[str]
    query: Mapped[str]
    author: Mapped[str | None]
    created_at: Mapped[datetime]
