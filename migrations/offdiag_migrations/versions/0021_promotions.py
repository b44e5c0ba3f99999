"""Record champions and candidates, the primary metric of a dataset, and what a user has seen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021_promotions"
down_revision = "0020_positive_by_convention"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "promotion",
        sa.Column("id", ID, nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("role", TEXT, nullable=False),
        sa.Column("run_id", TEXT, nullable=True),
        sa.Column("run_name", TEXT, nullable=True),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("truth_number", sa.Integer(), nullable=True),
        sa.Column("metrics", JSON, nullable=False),
        sa.Column("gate", JSON, nullable=True),
        sa.CheckConstraint("role IN ('champion', 'candidate')", name=op.f("ck_promotion_role")),
        sa.CheckConstraint(
            "role <> 'champion' OR reason IS NOT NULL",
            name=op.f("ck_promotion_champion_for_reason"),
        ),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
            name=op.f("fk_promotion_dataset_id_dataset"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_promotion")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_promotion_dataset_id_role_id"), "promotion", ["dataset_id", "role", "id"]
    )
    op.add_column("dataset", sa.Column("primary_metric", TEXT, nullable=True))
    op.add_column(
        "user_account",
        sa.Column("news_seen_at", sa.DateTime(timezone=True), nullable=True),
    )


def downgrade() -> None:
    op.drop_column("user_account", "news_seen_at")
    op.drop_column("dataset", "primary_metric")
    op.drop_table("promotion")
