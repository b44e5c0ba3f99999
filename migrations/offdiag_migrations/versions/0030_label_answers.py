"""Keep labels that people propose until they are published, and know people who only label."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0030_label_answers"
down_revision = "0029_scores_of_counts"

# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
# SQLite alters a table by making a new one, which must not reuse old ids either.
IDS_ARE_NEVER_REUSED = {"sqlite_autoincrement": True}
TABLES = ("membership", "api_token")


def upgrade() -> None:
    op.create_table(
        "label_answer",
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("published_in", sa.Integer(), nullable=False),
        sa.Column("sample", TEXT, nullable=False),
        sa.Column("author", TEXT, nullable=False),
        sa.Column("is_final", sa.Boolean(), nullable=False),
        sa.Column("label", TEXT, nullable=True),
        sa.Column("note", TEXT, nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
            name=op.f("fk_label_answer_dataset_id_dataset"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            *("dataset_id", "published_in", "sample", "author", "is_final"),
            name=op.f("pk_label_answer"),
        ),
    )
    allow_roles("'viewer', 'labeler', 'logger', 'editor', 'admin'")


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"UPDATE {table} SET role = 'viewer' WHERE role = 'labeler'")  # noqa: S608 - one of two names
    allow_roles("'viewer', 'logger', 'editor', 'admin'")
    op.drop_table("label_answer")


def allow_roles(roles: str) -> None:
    for table in TABLES:
        name = op.f(f"ck_{table}_role")
        with op.batch_alter_table(table, table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
            batch.drop_constraint(name, type_="check")
            batch.create_check_constraint(name, sa.text(f"role IN ({roles})"))
