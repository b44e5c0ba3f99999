"""Have results computed again where costs count, now that their costs are kept with them."""

from __future__ import annotations

from alembic import op

revision = "0007_costs_of_results"
down_revision = "0006_derived_runs"


def upgrade() -> None:
    # The costs an evaluation was judged by are named to tell when others count. Where none are
    # named and the dataset has some, the next sweep asks for the run to be evaluated.
    op.execute("UPDATE evaluation SET cost_matrix_id = NULL WHERE cost_matrix_id IS NOT NULL")


def downgrade() -> None:
    """Nothing to take back: the same sweep names the costs again."""
