"""Keep views of lists under a name: what an address says, for addresses too long to pass on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010_saved_views"
down_revision = "0009_summaries_of_issues"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "saved_view",
        sa.Column("slug", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("page", TEXT, nullable=False),
        sa.Column("query", TEXT, nullable=False),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("slug", name=op.f("pk_saved_view")),
        sa.UniqueConstraint("page", "name", name=op.f("uq_saved_view_page_name")),
    )


def downgrade() -> None:
    op.drop_table("saved_view")
