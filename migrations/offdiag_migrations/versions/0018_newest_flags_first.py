"""Let the inbox read the newest flags of a state and severity along an index."""

from __future__ import annotations

from alembic import op

revision = "0018_newest_flags_first"
down_revision = "0017_lists_of_many_runs"

BEFORE = ("state", "severity")
NOW = (*BEFORE, "id")


def upgrade() -> None:
    change(BEFORE, NOW)


def downgrade() -> None:
    change(NOW, BEFORE)


def change(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    op.create_index(name(new), "flag", list(new), if_not_exists=True)
    op.drop_index(name(old), table_name="flag")


def name(columns: tuple[str, ...]) -> str:
    return op.f(f"ix_flag_{'_'.join(columns)}")
