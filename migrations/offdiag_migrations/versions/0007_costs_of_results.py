"""Have results computed again where costs count, now that their costs are kept with them."""

from __future__ import annotations

from alembic import op

revision = "0007_costs_of_results"
down_revision = "0006_derived_runs"


def upgrade() -> None:
    # An evaluation names the costs it was judged by, which shows when the current ones differ. If
    # it names none and the dataset has some, the next reconciliation submits the run.
    op.execute("UPDATE evaluation SET cost_matrix_id = NULL WHERE cost_matrix_id IS NOT NULL")


def downgrade() -> None:
    """Nothing to undo: the next reconciliation has the costs named again."""
