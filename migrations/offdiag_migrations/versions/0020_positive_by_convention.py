"""Say of a dataset whether its positive class was named or follows from the labels."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020_positive_by_convention"
down_revision = "0019_lost_leases"


def upgrade() -> None:
    # The positive classes that datasets have so far were all named by users.
    op.add_column(
        "dataset",
        sa.Column(
            "positive_by_convention", sa.Boolean(), nullable=False, server_default=sa.false()
        ),
    )


def downgrade() -> None:
    op.drop_column("dataset", "positive_by_convention")
