"""Keep comments on runs and datasets, and those on flags with them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0024_comments"
down_revision = "0023_run_notes"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TARGETS = {"run_id": "run", "dataset_id": "dataset", "flag_id": "flag"}


def upgrade() -> None:
    counted = " + ".join(f"CASE WHEN {column} IS NULL THEN 0 ELSE 1 END" for column in TARGETS)
    op.create_table(
        "comment",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", TEXT, nullable=True),
        sa.Column("dataset_id", ID, nullable=True),
        sa.Column("flag_id", ID, nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("text", TEXT, nullable=False),
        sa.CheckConstraint(f"{counted} = 1", name=op.f("ck_comment_about_one_thing")),
        *(
            sa.ForeignKeyConstraint(
                [column],
                [f"{table}.id"],
                name=op.f(f"fk_comment_{column}_{table}"),
                ondelete="CASCADE",
            )
            for column, table in TARGETS.items()
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comment")),
        sqlite_autoincrement=True,
    )
    for column in TARGETS:
        op.create_index(op.f(f"ix_comment_{column}"), "comment", [column])
    op.execute(
        "INSERT INTO comment (flag_id, at, author, text) "
        "SELECT flag_id, at, author, coalesce(text, '') FROM flag_event "
        "WHERE kind = 'commented' ORDER BY id"
    )
    op.execute("DELETE FROM flag_event WHERE kind = 'commented'")


def downgrade() -> None:
    op.execute(
        "INSERT INTO flag_event (flag_id, at, author, kind, text) "
        "SELECT flag_id, at, author, 'commented', text FROM comment "
        "WHERE flag_id IS NOT NULL ORDER BY id"
    )
    op.drop_table("comment")
