"""Let people write a note on a run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0023_run_notes"
down_revision = "0022_problems"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("run", sa.Column("note", TEXT, nullable=True))


def downgrade() -> None:
    op.drop_column("run", "note")
