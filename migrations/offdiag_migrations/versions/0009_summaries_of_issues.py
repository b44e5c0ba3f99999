"""Keep with an issue what lists of reports show of it, so that they need not read its files."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009_summaries_of_issues"
down_revision = "0008_score_curves"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    # Issues computed earlier remain without one: they are frozen.
    op.add_column("report_issue", sa.Column("summary", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("report_issue", "summary")
