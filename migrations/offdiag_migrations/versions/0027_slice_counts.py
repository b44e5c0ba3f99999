"""Keep the counts of every slice of a run with its evaluation."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0027_slice_counts"
down_revision = "0026_sample_content"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    # Empty at first: the counts of older evaluations are made when they are requested.
    op.create_table(
        "slice_counts",
        sa.Column("evaluation_id", ID, nullable=False),
        sa.Column("columns_digest", TEXT, nullable=False),
        sa.Column("columns", JSON, nullable=False),
        sa.Column("n_slices", sa.Integer(), nullable=False),
        sa.Column("n_parts", sa.Integer(), nullable=False),
        sa.Column("n_left_out", sa.Integer(), nullable=False),
        sa.Column("dtype", TEXT, nullable=False),
        sa.Column("members", sa.LargeBinary(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", name=op.f("pk_slice_counts")),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_slice_counts_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        between("n_slices", 0, 2**31 - 1),
        between("n_parts", 1, 2**31 - 1),
        between("n_left_out", 0, 2**31 - 1),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Reading them takes most of the time, as for other counts.
        for column in ("members", "numbers"):
            op.execute(f"ALTER TABLE slice_counts ALTER COLUMN {column} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("slice_counts")


def between(column: str, low: int, high: int) -> sa.CheckConstraint:
    return sa.CheckConstraint(
        f"{column} BETWEEN {low} AND {high}", name=op.f(f"ck_slice_counts_{column}")
    )
