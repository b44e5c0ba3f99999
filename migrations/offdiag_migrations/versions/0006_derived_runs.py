"""Let a run say from whose scores its predictions were decided anew, and by which rule."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006_derived_runs"
down_revision = "0005_flags_and_costs"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    # Both databases add a nullable column without touching any row.
    op.add_column("run", sa.Column("derived_from", TEXT, nullable=True))
    op.add_column("run", sa.Column("derivation", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("run", "derivation")
    op.drop_column("run", "derived_from")
