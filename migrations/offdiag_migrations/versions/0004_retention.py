"""Let runs be deleted softly."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004_retention"
down_revision = "0003_schedules_and_reports"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    # Both databases add a nullable column without touching any row.
    op.add_column("run", sa.Column("deleted_at", INSTANT, nullable=True))
    op.add_column("run", sa.Column("deleted_by", TEXT, nullable=True))
    op.create_index(op.f("ix_run_deleted_at"), "run", ["deleted_at"], **where("IS NOT NULL"))
    # Lists and counts leave out deleted runs, and need not read the rows to do so.
    op.drop_index(op.f("ix_run_dataset_id_created_at"), "run")
    op.create_index(
        op.f("ix_run_dataset_id_created_at"),
        "run",
        ["dataset_id", "created_at"],
        **where("IS NULL"),
    )


def downgrade() -> None:
    # Deleted runs become visible again: an unwanted run is better than a lost one.
    op.drop_index(op.f("ix_run_dataset_id_created_at"), "run")
    op.create_index(op.f("ix_run_dataset_id_created_at"), "run", ["dataset_id", "created_at"])
    op.drop_index(op.f("ix_run_deleted_at"), "run")
    op.drop_column("run", "deleted_by")
    op.drop_column("run", "deleted_at")


def where(condition: str) -> dict[str, Any]:
    """Options of a partial index over runs by whether they are deleted."""
    predicate = sa.text(f"deleted_at {condition}")
    return {"sqlite_where": predicate, "postgresql_where": predicate}
