"""Create the registry: projects, datasets, runs, evaluations and work."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001_registry"
down_revision = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
INSTANT = sa.DateTime(timezone=True)

# Blobs are dense numbers: compressing them costs three times what storing them does.
BLOBS = {
    "truth_chunk": ("codes", "sample_ids"),
    "prediction_chunk": ("codes", "positions", "counts"),
    "score_chunk": ("scores",),
    "pending_truth": ("codes", "sample_ids"),
    "uploaded_matrix": ("cells",),
    "confusion_matrix": ("cells",),
    "class_values": ("data",),
}


def upgrade() -> None:
    create_projects_and_datasets()
    create_runs()
    create_chunks()
    create_evaluations()
    create_work()
    if op.get_context().dialect.name == "postgresql":
        for table, columns in BLOBS.items():
            for column in columns:
                op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def downgrade() -> None:
    for table in (
        "work",
        "class_values",
        "metric_value",
        "confusion_matrix",
        "evaluation",
        "pending_truth",
        "score_chunk",
        "prediction_chunk",
        "uploaded_matrix",
        "run",
        "truth_chunk",
        "truth_version",
        "dataset",
        "label_set",
        "project",
    ):
        op.drop_table(table)


def create_projects_and_datasets() -> None:
    op.create_table(
        "project",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        primary_key("project", "id"),
        unique("project", "name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "label_set",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("names", JSON, nullable=False),
        sa.Column("n_classes", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Boolean(), nullable=False),
        primary_key("label_set", "id"),
        whole_number("label_set", "n_classes", at_least=1),
        unique("label_set", "digest"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "dataset",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("task", TEXT, nullable=False),
        sa.Column("label_set_id", ID, nullable=False),
        sa.Column("labels_inferred", sa.Boolean(), nullable=False),
        sa.Column("positive_label", TEXT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        primary_key("dataset", "id"),
        unique("dataset", "project_id", "name"),
        one_of("dataset", "task", "binary", "multiclass", "multilabel"),
        foreign_key("dataset", "project_id", "project"),
        foreign_key("dataset", "label_set_id", "label_set"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "truth_version",
        sa.Column("id", ID, nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("n_samples", sa.BigInteger(), nullable=False),
        sa.Column("id_kind", TEXT, nullable=False),
        sa.Column("class_counts", JSON, nullable=False),
        sa.Column("origin", TEXT, nullable=False),
        sa.Column("parent_id", ID, nullable=True),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        primary_key("truth_version", "id"),
        unique("truth_version", "dataset_id", "number"),
        unique("truth_version", "dataset_id", "digest"),
        whole_number("truth_version", "number", at_least=1),
        big_whole_number("truth_version", "n_samples"),
        one_of("truth_version", "id_kind", "position", "int", "text"),
        one_of("truth_version", "origin", "logged", "revised"),
        foreign_key("truth_version", "dataset_id", "dataset"),
        foreign_key("truth_version", "parent_id", "truth_version"),
        sqlite_autoincrement=True,
    )


def create_runs() -> None:
    op.create_table(
        "run",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("truth_version_id", ID, nullable=True),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("model", TEXT, nullable=True),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("client_key", TEXT, nullable=True),
        sa.Column("params", JSON, nullable=False),
        sa.Column("tags", JSON, nullable=False),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("git_sha", TEXT, nullable=True),
        sa.Column("source_orientation", TEXT, nullable=False),
        sa.Column("orientation_evidence", JSON, nullable=True),
        sa.Column("orientation_verdict", TEXT, nullable=True),
        sa.Column("n_predictions", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("score_columns", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("content_digest", TEXT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("finished_at", INSTANT, nullable=True),
        primary_key("run", "id"),
        unique("run", "project_id", "client_key"),
        one_of("run", "state", "open", "finished", "evaluated", "failed"),
        one_of("run", "source_orientation", "predictions", "actual_rows", "actual_columns"),
        one_of(
            "run",
            "orientation_verdict",
            "canonical",
            "transposed",
            "ambiguous",
            "inconsistent",
            "unverified",
        ),
        big_whole_number("run", "n_predictions"),
        whole_number("run", "score_columns"),
        sa.CheckConstraint(
            "(state = 'open') = (finished_at IS NULL)",
            name=op.f("ck_run_open_until_finished_at"),
        ),
        foreign_key("run", "project_id", "project"),
        foreign_key("run", "dataset_id", "dataset"),
        foreign_key("run", "truth_version_id", "truth_version"),
    )
    op.create_index(op.f("ix_run_dataset_id_created_at"), "run", ["dataset_id", "created_at"])
    op.create_index(op.f("ix_run_state"), "run", ["state"])
    op.create_table(
        "uploaded_matrix",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("n_classes", sa.Integer(), nullable=False),
        sa.Column("cells", sa.LargeBinary(), nullable=False),
        primary_key("uploaded_matrix", "run_id"),
        whole_number("uploaded_matrix", "n_classes", at_least=1),
        foreign_key("uploaded_matrix", "run_id", "run", ondelete="CASCADE"),
    )


def create_chunks() -> None:
    op.create_table(
        "truth_chunk",
        sa.Column("truth_version_id", ID, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("dtype", TEXT, nullable=False),
        sa.Column("codec", TEXT, nullable=False),
        sa.Column("codes", sa.LargeBinary(), nullable=False),
        sa.Column("sample_ids", sa.LargeBinary(), nullable=True),
        sa.Column("sha256", TEXT, nullable=False),
        primary_key("truth_chunk", "truth_version_id", "seq"),
        whole_number("truth_chunk", "seq"),
        whole_number("truth_chunk", "n", at_least=1),
        foreign_key("truth_chunk", "truth_version_id", "truth_version"),
    )
    op.create_table(
        "prediction_chunk",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("dtype", TEXT, nullable=False),
        sa.Column("codec", TEXT, nullable=False),
        sa.Column("codes", sa.LargeBinary(), nullable=False),
        sa.Column("positions", sa.LargeBinary(), nullable=True),
        sa.Column("counts", sa.LargeBinary(), nullable=True),
        sa.Column("sha256", TEXT, nullable=False),
        primary_key("prediction_chunk", "run_id", "seq"),
        whole_number("prediction_chunk", "seq"),
        whole_number("prediction_chunk", "n", at_least=1),
        foreign_key("prediction_chunk", "run_id", "run", ondelete="CASCADE"),
    )
    op.create_table(
        "score_chunk",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("n_columns", sa.Integer(), nullable=False),
        sa.Column("dtype", TEXT, nullable=False),
        sa.Column("codec", TEXT, nullable=False),
        sa.Column("scores", sa.LargeBinary(), nullable=False),
        primary_key("score_chunk", "run_id", "seq"),
        part_of_a_prediction_chunk("score_chunk"),
        whole_number("score_chunk", "n_columns", at_least=1),
    )
    op.create_table(
        "pending_truth",
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("dtype", TEXT, nullable=True),
        sa.Column("codes", sa.LargeBinary(), nullable=True),
        sa.Column("id_kind", TEXT, nullable=False),
        sa.Column("sample_ids", sa.LargeBinary(), nullable=True),
        primary_key("pending_truth", "run_id", "seq"),
        part_of_a_prediction_chunk("pending_truth"),
        one_of("pending_truth", "id_kind", "position", "int", "text"),
    )


def create_evaluations() -> None:
    op.create_table(
        "evaluation",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("truth_version_id", ID, nullable=True),
        sa.Column("suite_version", sa.Integer(), nullable=False),
        sa.Column("engine_version", TEXT, nullable=False),
        sa.Column("input_digest", TEXT, nullable=False),
        sa.Column("n_cases", sa.BigInteger(), nullable=False),
        sa.Column("is_current", sa.Boolean(), nullable=False),
        sa.Column("computed_at", INSTANT, nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        primary_key("evaluation", "id"),
        unique("evaluation", "run_id", "input_digest"),
        whole_number("evaluation", "suite_version", at_least=1),
        big_whole_number("evaluation", "n_cases"),
        finite("evaluation", "duration_s"),
        foreign_key("evaluation", "run_id", "run", ondelete="CASCADE"),
        foreign_key("evaluation", "truth_version_id", "truth_version"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("uq_evaluation_run_id_current"),
        "evaluation",
        ["run_id"],
        unique=True,
        **where("is_current"),
    )
    op.create_table(
        "confusion_matrix",
        sa.Column("evaluation_id", ID, nullable=False),
        sa.Column("label_set_id", ID, nullable=False),
        sa.Column("n_classes", sa.Integer(), nullable=False),
        sa.Column("cells", sa.LargeBinary(), nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        primary_key("confusion_matrix", "evaluation_id"),
        whole_number("confusion_matrix", "n_classes", at_least=1),
        foreign_key("confusion_matrix", "evaluation_id", "evaluation", ondelete="CASCADE"),
        foreign_key("confusion_matrix", "label_set_id", "label_set"),
    )
    op.create_table(
        "metric_value",
        sa.Column("evaluation_id", ID, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("class_index", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("tends_to", TEXT, nullable=True),
        sa.Column("ci_low", sa.Double(), nullable=True),
        sa.Column("ci_high", sa.Double(), nullable=True),
        sa.Column("ci_method", TEXT, nullable=True),
        primary_key("metric_value", "evaluation_id", "key", "class_index"),
        whole_number("metric_value", "class_index", at_least=-1),
        finite("metric_value", "value"),
        finite("metric_value", "ci_low"),
        finite("metric_value", "ci_high"),
        sa.CheckConstraint(
            "(value IS NULL) = (reason IS NOT NULL)",
            name=op.f("ck_metric_value_value_or_reason"),
        ),
        sa.CheckConstraint(
            "ci_method IS NOT NULL OR (ci_low IS NULL AND ci_high IS NULL)",
            name=op.f("ck_metric_value_interval_has_a_method"),
        ),
        foreign_key("metric_value", "evaluation_id", "evaluation", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        op.f("ix_metric_value_key_class_index_value_evaluation_id"),
        "metric_value",
        ["key", "class_index", "value", "evaluation_id"],
    )
    op.create_table(
        "class_values",
        sa.Column("evaluation_id", ID, nullable=False),
        sa.Column("n_classes", sa.Integer(), nullable=False),
        sa.Column("keys", JSON, nullable=False),
        sa.Column("reasons", JSON, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        primary_key("class_values", "evaluation_id"),
        whole_number("class_values", "n_classes", at_least=1),
        foreign_key("class_values", "evaluation_id", "evaluation", ondelete="CASCADE"),
    )


def create_work() -> None:
    op.create_table(
        "work",
        sa.Column("id", ID, nullable=False),
        sa.Column("task", TEXT, nullable=False),
        sa.Column("args", JSON, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("due", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease", TEXT, nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("error", TEXT, nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        primary_key("work", "id"),
        one_of("work", "state", "todo", "doing", "dead"),
        whole_number("work", "attempts"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("uq_work_key_todo"), "work", ["key"], unique=True, **where("state = 'todo'")
    )
    op.create_index(op.f("ix_work_due_id_todo"), "work", ["due", "id"], **where("state = 'todo'"))
    op.create_index(
        op.f("ix_work_lease_until_doing"), "work", ["lease_until"], **where("state = 'doing'")
    )


def primary_key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=op.f(f"pk_{table}"))


def unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=op.f(f"uq_{table}_{'_'.join(columns)}"))


def foreign_key(
    table: str, column: str, target: str, *, ondelete: str | None = None
) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}_{target}"), ondelete=ondelete
    )


def part_of_a_prediction_chunk(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["run_id", "seq"],
        ["prediction_chunk.run_id", "prediction_chunk.seq"],
        name=op.f(f"fk_{table}_run_id_seq_prediction_chunk"),
        ondelete="CASCADE",
    )


def one_of(table: str, column: str, *words: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=op.f(f"ck_{table}_{column}"))


def between(table: str, column: str, low: str, high: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(
        f"{column} BETWEEN {low} AND {high}", name=op.f(f"ck_{table}_{column}")
    )


def whole_number(table: str, column: str, *, at_least: int = 0) -> sa.CheckConstraint:
    return between(table, column, str(at_least), str(2**31 - 1))


def big_whole_number(table: str, column: str) -> sa.CheckConstraint:
    return between(table, column, "0", str(2**63 - 1))


def finite(table: str, column: str) -> sa.CheckConstraint:
    low, high = (f"CAST('{bound}' AS DOUBLE PRECISION)" for bound in ("-1e300", "1e300"))
    return between(table, column, low, high)


def where(predicate: str) -> dict[str, Any]:
    """Options of a partial index, which has only the rows that meet the predicate."""
    return {"sqlite_where": sa.text(predicate), "postgresql_where": sa.text(predicate)}
