"""Let lists of runs find their lines by an index, whatever they are sorted by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017_lists_of_many_runs"
down_revision = "0016_size_of_work"

OF_RUNS = (
    ("dataset_id", "created_at", "id", "deleted_at"),
    ("project_id", "created_at", "deleted_at"),
    ("model", "created_at", "deleted_at"),
    ("created_at", "id", "name", "deleted_at"),
    ("name", "id", "deleted_at"),
)
OF_EVALUATIONS = ("lowest_recall", "truth_version_id")
NOT_SETTLED = "state NOT IN ('closed', 'dismissed')"


def upgrade() -> None:
    for columns in OF_RUNS:
        index_runs(columns)
    op.drop_index(op.f("ix_run_dataset_id_created_at"), table_name="run")
    op.create_index(
        "ix_flag_run_id_class_label_badge",
        "flag",
        ["run_id", "class_label"],
        sqlite_where=sa.text(f"in_badge = 1 AND {NOT_SETTLED}"),
        postgresql_where=sa.text(f"in_badge AND {NOT_SETTLED}"),
    )
    op.create_index(op.f("ix_flag_run_id_state"), "flag", ["run_id", "state"])
    op.add_column("evaluation", sa.Column("lowest_recall", sa.Double(), nullable=True))
    op.execute(
        "UPDATE evaluation SET lowest_recall = (SELECT min(metric_value.value) FROM metric_value "
        "WHERE metric_value.evaluation_id = evaluation.id AND metric_value.key = 'recall' "
        "AND metric_value.class_index >= 0)"
    )
    for column in OF_EVALUATIONS:
        op.create_index(
            f"ix_evaluation_{column}_run_id_current",
            "evaluation",
            [column, "run_id"],
            sqlite_where=sa.text("is_current = 1 AND slice IS NULL"),
            postgresql_where=sa.text("is_current AND slice IS NULL"),
        )


def downgrade() -> None:
    for column in reversed(OF_EVALUATIONS):
        op.drop_index(f"ix_evaluation_{column}_run_id_current", table_name="evaluation")
    op.drop_column("evaluation", "lowest_recall")
    op.drop_index(op.f("ix_flag_run_id_state"), table_name="flag")
    op.drop_index("ix_flag_run_id_class_label_badge", table_name="flag")
    index_runs(("dataset_id", "created_at"))
    for columns in reversed(OF_RUNS):
        op.drop_index(op.f(f"ix_run_{'_'.join(columns)}"), table_name="run")


def index_runs(columns: tuple[str, ...]) -> None:
    is_there = sa.text("deleted_at IS NULL")
    op.create_index(
        op.f(f"ix_run_{'_'.join(columns)}"),
        "run",
        list(columns),
        sqlite_where=is_there,
        postgresql_where=is_there,
    )
