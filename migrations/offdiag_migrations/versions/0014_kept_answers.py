"""Keep what was answered to a request with a key, so that sending it again acts once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014_kept_answers"
down_revision = "0013_counted_cases"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "kept_answer",
        sa.Column("scope", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("scope", "key", name=op.f("pk_kept_answer")),
    )
    op.create_index(op.f("ix_kept_answer_claimed_at"), "kept_answer", ["claimed_at"])


def downgrade() -> None:
    op.drop_index(op.f("ix_kept_answer_claimed_at"), table_name="kept_answer")
    op.drop_table("kept_answer")
