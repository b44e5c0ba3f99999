"""Keep with a dataset which of its classes belong together, where somebody said so."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012_class_hierarchies"
down_revision = "0011_access"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("dataset", sa.Column("hierarchy", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("dataset", "hierarchy")
