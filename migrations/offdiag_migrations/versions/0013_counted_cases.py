"""Keep counts of cases by their slices, for runs whose predictions stay elsewhere."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013_counted_cases"
down_revision = "0012_class_hierarchies"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "counted_cases",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("n_kinds", sa.Integer(), nullable=False),
        sa.Column("dtype", TEXT, nullable=False),
        sa.Column("codec", TEXT, nullable=False),
        sa.Column("actual", sa.LargeBinary(), nullable=False),
        sa.Column("predicted", sa.LargeBinary(), nullable=False),
        sa.Column("sizes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_counted_cases")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["run.id"], name=op.f("fk_counted_cases_run_id_run"), ondelete="CASCADE"
        ),
        sa.CheckConstraint(
            f"n_kinds BETWEEN 1 AND {2**31 - 1}", name=op.f("ck_counted_cases_n_kinds")
        ),
    )
    op.create_table(
        "counted_slice",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("levels", JSON, nullable=False),
        sa.Column("dtype", TEXT, nullable=False),
        sa.Column("codec", TEXT, nullable=False),
        sa.Column("codes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "name", name=op.f("pk_counted_slice")),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["counted_cases.run_id"],
            name=op.f("fk_counted_slice_run_id_counted_cases"),
            ondelete="CASCADE",
        ),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Codes and sizes hardly shrink, and reading them takes most of the time.
        for table, column in (
            ("counted_cases", "actual"),
            ("counted_cases", "predicted"),
            ("counted_cases", "sizes"),
            ("counted_slice", "codes"),
        ):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("counted_slice")
    op.drop_table("counted_cases")
