"""Let ground truth be revised, labelled in part and sliced."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002_truth_revisions"
down_revision = "0001_registry"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
INSTANT = sa.DateTime(timezone=True)

# SQLite alters a table by making a new one, which must not reuse old ids either.
IDS_ARE_NEVER_REUSED = {"sqlite_autoincrement": True}


def upgrade() -> None:
    give_truth_versions_a_lineage()
    tell_sliced_evaluations_apart()
    create_slices()


def downgrade() -> None:
    op.drop_table("pending_slice")
    op.drop_table("truth_slice")
    op.execute("DELETE FROM evaluation WHERE slice IS NOT NULL")
    op.drop_index(op.f("uq_evaluation_run_id_slice_current"), "evaluation")
    op.drop_index(op.f("uq_evaluation_run_id_current"), "evaluation")
    with op.batch_alter_table("evaluation", table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
        batch.drop_constraint(op.f("ck_evaluation_n_labelled"), type_="check")
        batch.drop_column("n_labelled")
        batch.drop_column("slice")
    create_index_of_current_evaluations("is_current")
    for index in (
        "ix_truth_version_dataset_id_root_id_number",
        "uq_truth_version_dataset_id_digest_logged",
        "uq_truth_version_parent_id",
    ):
        op.drop_index(op.f(index), "truth_version")
    with op.batch_alter_table("truth_version", table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
        for check in ("n_labelled", "revised_from_a_parent", "revised_for_a_reason"):
            batch.drop_constraint(op.f(f"ck_truth_version_{check}"), type_="check")
        batch.drop_constraint(op.f("fk_truth_version_root_id_truth_version"), type_="foreignkey")
        batch.drop_column("n_labelled")
        batch.drop_column("root_id")
        batch.create_unique_constraint(
            op.f("uq_truth_version_dataset_id_digest"), ["dataset_id", "digest"]
        )


def give_truth_versions_a_lineage() -> None:
    with op.batch_alter_table("truth_version", table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
        batch.add_column(sa.Column("root_id", ID, nullable=True))
        batch.add_column(sa.Column("n_labelled", sa.BigInteger(), nullable=True))
        batch.drop_constraint(op.f("uq_truth_version_dataset_id_digest"), type_="unique")
    op.execute("UPDATE truth_version SET root_id = id, n_labelled = n_samples")
    with op.batch_alter_table("truth_version", table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
        batch.alter_column("root_id", existing_type=ID, nullable=False)
        batch.alter_column("n_labelled", existing_type=sa.BigInteger(), nullable=False)
        # Deferred, because the first version of a lineage refers to itself.
        batch.create_foreign_key(
            op.f("fk_truth_version_root_id_truth_version"),
            "truth_version",
            ["root_id"],
            ["id"],
            deferrable=True,
            initially="DEFERRED",
        )
        batch.create_check_constraint(
            op.f("ck_truth_version_n_labelled"), sa.text("n_labelled BETWEEN 0 AND n_samples")
        )
        batch.create_check_constraint(
            op.f("ck_truth_version_revised_from_a_parent"),
            sa.text("(origin = 'revised') = (parent_id IS NOT NULL)"),
        )
        batch.create_check_constraint(
            op.f("ck_truth_version_revised_for_a_reason"),
            sa.text("parent_id IS NULL OR reason IS NOT NULL"),
        )
    op.create_index(
        op.f("ix_truth_version_dataset_id_root_id_number"),
        "truth_version",
        ["dataset_id", "root_id", "number"],
    )
    # A correction may be undone, so only logged versions are unique by content.
    op.create_index(
        op.f("uq_truth_version_dataset_id_digest_logged"),
        "truth_version",
        ["dataset_id", "digest"],
        unique=True,
        **where("origin = 'logged'"),
    )
    op.create_index(
        op.f("uq_truth_version_parent_id"), "truth_version", ["parent_id"], unique=True
    )


def tell_sliced_evaluations_apart() -> None:
    op.drop_index(op.f("uq_evaluation_run_id_current"), "evaluation")
    with op.batch_alter_table("evaluation", table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
        batch.add_column(sa.Column("slice", TEXT, nullable=True))
        batch.add_column(sa.Column("n_labelled", sa.BigInteger(), nullable=True))
    op.execute("UPDATE evaluation SET n_labelled = n_cases")
    with op.batch_alter_table("evaluation", table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
        batch.alter_column("n_labelled", existing_type=sa.BigInteger(), nullable=False)
        batch.create_check_constraint(
            op.f("ck_evaluation_n_labelled"), sa.text("n_labelled BETWEEN 0 AND n_cases")
        )
    create_index_of_current_evaluations("is_current AND slice IS NULL")
    op.create_index(
        op.f("uq_evaluation_run_id_slice_current"),
        "evaluation",
        ["run_id", "slice"],
        unique=True,
        **where("is_current AND slice IS NOT NULL"),
    )


def create_index_of_current_evaluations(predicate: str) -> None:
    op.create_index(
        op.f("uq_evaluation_run_id_current"),
        "evaluation",
        ["run_id"],
        unique=True,
        **where(predicate),
    )


def create_slices() -> None:
    op.create_table(
        "truth_slice",
        sa.Column("truth_version_id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        *coded_column(),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("truth_version_id", "name", name=op.f("pk_truth_slice")),
        sa.ForeignKeyConstraint(
            ["truth_version_id"],
            ["truth_version.id"],
            name=op.f("fk_truth_slice_truth_version_id_truth_version"),
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "pending_slice",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("name", TEXT, nullable=False),
        *coded_column(),
        sa.PrimaryKeyConstraint("run_id", "seq", "name", name=op.f("pk_pending_slice")),
        sa.ForeignKeyConstraint(
            ["run_id", "seq"],
            ["prediction_chunk.run_id", "prediction_chunk.seq"],
            name=op.f("fk_pending_slice_run_id_seq_prediction_chunk"),
            ondelete="CASCADE",
        ),
    )
    if op.get_context().dialect.name == "postgresql":
        for table in ("truth_slice", "pending_slice"):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN codes SET STORAGE EXTERNAL")


def coded_column() -> tuple[sa.Column[Any], ...]:
    """Columns for one of a few values per sample, as its place in a list."""
    return (
        sa.Column("levels", JSON, nullable=False),
        sa.Column("dtype", TEXT, nullable=False),
        sa.Column("codec", TEXT, nullable=False),
        sa.Column("codes", sa.LargeBinary(), nullable=False),
    )


def where(predicate: str) -> dict[str, Any]:
    """Options of a partial index, which has only the rows that meet the predicate."""
    return {"sqlite_where": sa.text(predicate), "postgresql_where": sa.text(predicate)}
