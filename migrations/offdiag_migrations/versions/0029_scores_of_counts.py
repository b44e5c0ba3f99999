"""Keep the scores of counted cases, as sums of narrow cells."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029_scores_of_counts"
down_revision = "0028_flags_of_slices"


def upgrade() -> None:
    op.add_column("counted_cases", sa.Column("scores", sa.LargeBinary(), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        # Reading them takes most of the time, as for other counts.
        op.execute("ALTER TABLE counted_cases ALTER COLUMN scores SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_column("counted_cases", "scores")
