"""Say of work how large it is, and which request asked for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016_size_of_work"
down_revision = "0015_work_by_project"

TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    # The size and the request of work that is already waiting are unknown.
    op.add_column("work", sa.Column("size", sa.BigInteger(), nullable=True))
    op.add_column("work", sa.Column("request_id", TEXT, nullable=True))


def downgrade() -> None:
    op.drop_column("work", "request_id")
    op.drop_column("work", "size")
