"""Count the leases that a piece of work has lost, apart from its attempts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019_lost_leases"
down_revision = "0018_newest_flags_first"


def upgrade() -> None:
    # Both databases add a column with a constant default without rewriting the table.
    op.add_column(
        "work", sa.Column("losses", sa.Integer(), nullable=False, server_default=sa.text("0"))
    )


def downgrade() -> None:
    op.drop_column("work", "losses")
