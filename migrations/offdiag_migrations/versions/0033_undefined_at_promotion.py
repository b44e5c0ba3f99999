"""Keep the reasons of metrics that were undefined when a run was promoted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0033_undefined_at_promotion"
down_revision = "0032_paired_counts"

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.add_column("promotion", sa.Column("undefined", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("promotion", "undefined")
