"""Let flags and problems be about a slice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from alembic.operations import BatchOperations
from sqlalchemy.dialects import postgresql

revision = "0028_flags_of_slices"
down_revision = "0027_slice_counts"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
# SQLite alters a table by making a new one, which must not reuse old ids either.
IDS_ARE_NEVER_REUSED = {"sqlite_autoincrement": True}
CAUSES = "'missed', 'imprecise', 'drop', 'worthless', 'hides', 'cost', 'orientation', 'few_labels'"
KEYS = {
    "flag": ["run_id", "rule", "class_label"],
    "problem": ["dataset_id", "model", "cause", "class_label"],
}


def upgrade() -> None:
    drop_badge_index()
    for table, key in KEYS.items():
        # The previous version of the program adds rows without a slice.
        op.add_column(
            table,
            sa.Column("slice", TEXT, nullable=False, server_default=""),
            # The column and the index may have been made beforehand, without a lock.
            if_not_exists=None if is_sqlite() else True,
        )
        op.create_index(
            op.f(f"uq_{table}_slice"), table, [*key, "slice"], unique=True, if_not_exists=True
        )
        with op.batch_alter_table(table, table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
            # SQLite also reads the default back in other words.
            batch.alter_column("slice", existing_type=TEXT, server_default="")
            batch.drop_constraint(op.f(f"uq_{table}_{'_'.join(key)}"), type_="unique")
            if table == "problem":
                require_cause(batch, f"{CAUSES}, 'slice'")
    create_badge_index()


def downgrade() -> None:
    drop_badge_index()
    for table, key in KEYS.items():
        op.execute(f"DELETE FROM {table} WHERE slice <> ''")  # noqa: S608 - one of two names
        op.drop_index(op.f(f"uq_{table}_slice"), table_name=table)
        with op.batch_alter_table(table, table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
            batch.drop_column("slice")
            batch.create_unique_constraint(op.f(f"uq_{table}_{'_'.join(key)}"), key)
            if table == "problem":
                require_cause(batch, CAUSES)
    create_badge_index()


def is_sqlite() -> bool:
    return op.get_context().dialect.name == "sqlite"


def require_cause(batch: BatchOperations, causes: str) -> None:
    batch.drop_constraint(op.f("ck_problem_cause"), type_="check")
    batch.create_check_constraint(op.f("ck_problem_cause"), sa.text(f"cause IN ({causes})"))


def drop_badge_index() -> None:
    # SQLite would read its condition back in other words; other databases copy no table.
    if is_sqlite():
        op.drop_index("ix_flag_run_id_class_label_badge", table_name="flag")


def create_badge_index() -> None:
    if is_sqlite():
        op.create_index(
            "ix_flag_run_id_class_label_badge",
            "flag",
            ["run_id", "class_label"],
            sqlite_where=sa.text("in_badge = 1 AND state NOT IN ('closed', 'dismissed')"),
        )
