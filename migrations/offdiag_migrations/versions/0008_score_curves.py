"""Keep the curves of scores with the results they belong to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008_score_curves"
down_revision = "0007_costs_of_results"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BLOBS = ("points", "bins", "histogram")


def upgrade() -> None:
    # Empty at first: the next reconciliation submits every run with scores for evaluation.
    op.create_table(
        "score_curve",
        sa.Column("evaluation_id", ID, nullable=False),
        sa.Column("class_index", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("n_positive", sa.BigInteger(), nullable=False),
        sa.Column("n_negative", sa.BigInteger(), nullable=False),
        sa.Column("n_thresholds", sa.BigInteger(), nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
        sa.Column("bins", sa.LargeBinary(), nullable=True),
        sa.Column("histogram", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("evaluation_id", "class_index", name=op.f("pk_score_curve")),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_score_curve_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        between("class_index", -1, 2**31 - 1),
        between("n_positive", 0, 2**63 - 1),
        between("n_negative", 0, 2**63 - 1),
        between("n_thresholds", 0, 2**63 - 1),
    )
    if op.get_context().dialect.name == "postgresql":
        for column in BLOBS:
            op.execute(f"ALTER TABLE score_curve ALTER COLUMN {column} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("score_curve")


def between(column: str, low: int, high: int) -> sa.CheckConstraint:
    return sa.CheckConstraint(
        f"{column} BETWEEN {low} AND {high}", name=op.f(f"ck_score_curve_{column}")
    )
