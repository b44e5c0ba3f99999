"""Keep links that show one page, read-only, to whoever has them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0025_share_links"
down_revision = "0024_comments"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "share_link",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("address", TEXT, nullable=False),
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["owner_id"],
            ["user_account.id"],
            name=op.f("fk_share_link_owner_id_user_account"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_share_link")),
        sa.UniqueConstraint("digest", name=op.f("uq_share_link_digest")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_share_link_owner_id"), "share_link", ["owner_id"])


def downgrade() -> None:
    op.drop_table("share_link")
