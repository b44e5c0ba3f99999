"""Say of work which project it is for, so that projects take turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015_work_by_project"
down_revision = "0014_kept_answers"


def upgrade() -> None:
    # Work that is already waiting has no project, and takes its turn like that of one.
    op.add_column("work", sa.Column("project_id", sa.BigInteger(), nullable=True))
    waits = sa.text("state = 'todo'")
    op.create_index(
        op.f("ix_work_project_id_due_id_todo"),
        "work",
        ["project_id", "due", "id"],
        sqlite_where=waits,
        postgresql_where=waits,
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_work_project_id_due_id_todo"), table_name="work")
    op.drop_column("work", "project_id")
