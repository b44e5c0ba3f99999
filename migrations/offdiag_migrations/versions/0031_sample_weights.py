"""Keep weights of samples with the predictions, and mark the runs that have them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031_sample_weights"
down_revision = "0030_label_answers"


def upgrade() -> None:
    op.add_column(
        "run", sa.Column("is_weighted", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_index(
        "ix_run_is_weighted",
        "run",
        ["is_weighted"],
        sqlite_where=sa.text("is_weighted = 1"),
        postgresql_where=sa.text("is_weighted"),
        if_not_exists=True,
    )
    op.add_column("prediction_chunk", sa.Column("weights", sa.LargeBinary(), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        # Reading them takes most of the time, as for codes.
        op.execute("ALTER TABLE prediction_chunk ALTER COLUMN weights SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_column("prediction_chunk", "weights")
    op.drop_index("ix_run_is_weighted", table_name="run")
    op.drop_column("run", "is_weighted")
