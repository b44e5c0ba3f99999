"""Keep what several runs predict for kinds of samples that were counted together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0032_paired_counts"
down_revision = "0031_sample_weights"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "paired_counts",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("n_kinds", sa.Integer(), nullable=False),
        sa.Column("dtype", TEXT, nullable=False),
        sa.Column("codec", TEXT, nullable=False),
        sa.Column("actual", sa.LargeBinary(), nullable=False),
        sa.Column("sizes", sa.LargeBinary(), nullable=False),
        sa.Column("slices", JSON, nullable=False),
        sa.Column("slice_codes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_paired_counts")),
        sa.CheckConstraint(
            f"n_kinds BETWEEN 1 AND {2**31 - 1}", name=op.f("ck_paired_counts_n_kinds")
        ),
    )
    op.create_table(
        "paired_run",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("paired_id", TEXT, nullable=False),
        sa.Column("predicted", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "paired_id", name=op.f("pk_paired_run")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["run.id"], name=op.f("fk_paired_run_run_id_run"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["paired_id"], ["paired_counts.id"], name=op.f("fk_paired_run_paired_id_paired_counts")
        ),
    )
    op.create_index(op.f("ix_paired_run_paired_id"), "paired_run", ["paired_id"])
    if op.get_bind().dialect.name == "postgresql":
        # Codes and sizes hardly shrink, and reading them takes most of the time.
        for table, column in (
            ("paired_counts", "actual"),
            ("paired_counts", "sizes"),
            ("paired_counts", "slice_codes"),
            ("paired_run", "predicted"),
        ):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("paired_run")
    op.drop_table("paired_counts")
