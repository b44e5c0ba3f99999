"""Know users, their roles, sessions and tokens, and keep what was changed by whom."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011_access"
down_revision = "0010_saved_views"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)
ROLES = "role IN ('viewer', 'logger', 'editor', 'admin')"


def upgrade() -> None:
    op.create_table(
        "user_account",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("display_name", TEXT, nullable=True),
        sa.Column("email", TEXT, nullable=True),
        sa.Column("password_hash", TEXT, nullable=True),
        sa.Column("disabled_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("signed_in_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_account")),
        sa.UniqueConstraint("name", name=op.f("uq_user_account_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "membership",
        sa.Column("id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=True),
        sa.Column("role", TEXT, nullable=False),
        sa.CheckConstraint(ROLES, name=op.f("ck_membership_role")),
        _user("membership"),
        _project("membership"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_membership")),
        sa.UniqueConstraint(
            "user_id", "project_id", name=op.f("uq_membership_user_id_project_id")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_membership_user_id_everywhere",
        "membership",
        ["user_id"],
        unique=True,
        sqlite_where=sa.text("project_id IS NULL"),
        postgresql_where=sa.text("project_id IS NULL"),
    )
    op.create_table(
        "user_session",
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        _user("user_session"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_user_session")),
    )
    op.create_index(op.f("ix_user_session_user_id"), "user_session", ["user_id"])
    op.create_table(
        "api_token",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("prefix", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("role", TEXT, nullable=False),
        sa.Column("project_id", ID, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("used_at", TIME, nullable=True),
        sa.Column("revoked_at", TIME, nullable=True),
        sa.CheckConstraint(ROLES, name=op.f("ck_api_token_role")),
        _user("api_token", "owner_id"),
        _project("api_token"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_token_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_api_token_owner_id"), "api_token", ["owner_id"])
    op.create_table(
        "audit_event",
        sa.Column("id", ID, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("actor_kind", TEXT, nullable=False),
        sa.Column("actor", TEXT, nullable=False),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("object", TEXT, nullable=False),
        sa.Column("project", TEXT, nullable=True),
        sa.Column("request_id", TEXT, nullable=True),
        sa.Column("detail", JSON, nullable=False),
        sa.CheckConstraint(
            "actor_kind IN ('user', 'token', 'cli', 'system')",
            name=op.f("ck_audit_event_actor_kind"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_event")),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    for table in ("audit_event", "api_token", "user_session", "membership", "user_account"):
        op.drop_table(table)


def _user(table: str, column: str = "user_id") -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_user_account")
    return sa.ForeignKeyConstraint([column], ["user_account.id"], name=name, ondelete="CASCADE")


def _project(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_project_id_project")
    return sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=name, ondelete="CASCADE")
