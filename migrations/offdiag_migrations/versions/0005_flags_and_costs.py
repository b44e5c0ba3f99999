"""Keep flags with their life cycle, cost matrices with versions, and baselines."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005_flags_and_costs"
down_revision = "0004_retention"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
INSTANT = sa.DateTime(timezone=True)

# SQLite alters a table by making a new one, which must not reuse old ids either.
IDS_ARE_NEVER_REUSED = {"sqlite_autoincrement": True}

SEVERITIES = ("info", "medium", "high", "critical")


def upgrade() -> None:
    create_cost_matrices()
    create_baselines()
    say_what_evaluations_were_judged_by()
    create_flags()


def downgrade() -> None:
    op.drop_table("flag_event")
    op.drop_table("flag")
    for column in ("baseline_run_id", "cost_matrix_id", "rules_digest", "hides_minority"):
        op.drop_column("evaluation", column)
    op.drop_table("baseline")
    with op.batch_alter_table("dataset", table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
        batch.drop_constraint(
            op.f("fk_dataset_default_cost_matrix_id_cost_matrix"), type_="foreignkey"
        )
        batch.drop_column("default_cost_matrix_id")
    op.drop_table("cost_matrix")


def create_cost_matrices() -> None:
    op.create_table(
        "cost_matrix",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("label_set_id", ID, nullable=False),
        sa.Column("weights", sa.LargeBinary(), nullable=False),
        sa.Column("currency", TEXT, nullable=True),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("note", TEXT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        primary_key("cost_matrix", "id"),
        unique("cost_matrix", "project_id", "name", "version"),
        whole_number("cost_matrix", "version", at_least=1),
        foreign_key("cost_matrix", "project_id", "project"),
        foreign_key("cost_matrix", "label_set_id", "label_set"),
        sqlite_autoincrement=True,
    )
    if op.get_context().dialect.name == "postgresql":
        op.execute("ALTER TABLE cost_matrix ALTER COLUMN weights SET STORAGE EXTERNAL")
    with op.batch_alter_table("dataset", table_kwargs=IDS_ARE_NEVER_REUSED) as batch:
        batch.add_column(sa.Column("default_cost_matrix_id", ID, nullable=True))
        batch.create_foreign_key(
            op.f("fk_dataset_default_cost_matrix_id_cost_matrix"),
            "cost_matrix",
            ["default_cost_matrix_id"],
            ["id"],
        )


def create_baselines() -> None:
    op.create_table(
        "baseline",
        sa.Column("dataset_id", ID, nullable=False, autoincrement=False),
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("pinned_at", INSTANT, nullable=False),
        primary_key("baseline", "dataset_id"),
        foreign_key("baseline", "dataset_id", "dataset", ondelete="CASCADE"),
        foreign_key("baseline", "run_id", "run", ondelete="CASCADE"),
    )


def say_what_evaluations_were_judged_by() -> None:
    """Add empty columns: the next reconciliation submits every run to be judged."""
    # Both databases add a nullable column without touching any row.
    op.add_column("evaluation", sa.Column("hides_minority", sa.Boolean(), nullable=True))
    op.add_column("evaluation", sa.Column("rules_digest", TEXT, nullable=True))
    op.add_column("evaluation", sa.Column("cost_matrix_id", ID, nullable=True))
    op.add_column("evaluation", sa.Column("baseline_run_id", TEXT, nullable=True))


def create_flags() -> None:
    op.create_table(
        "flag",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", TEXT, nullable=False),
        sa.Column("rule", TEXT, nullable=False),
        sa.Column("rule_version", sa.Integer(), nullable=False),
        sa.Column("class_label", TEXT, nullable=False),
        sa.Column("severity", TEXT, nullable=False),
        sa.Column("message", TEXT, nullable=False),
        sa.Column("evidence", JSON, nullable=False),
        sa.Column("fired", JSON, nullable=False),
        sa.Column("thresholds", JSON, nullable=False),
        sa.Column("in_badge", sa.Boolean(), nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("settled_severity", TEXT, nullable=True),
        sa.Column("snoozed_until", INSTANT, nullable=True),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("assignee", TEXT, nullable=True),
        sa.Column("first_seen", INSTANT, nullable=False),
        sa.Column("last_seen", INSTANT, nullable=False),
        sa.Column("closed_at", INSTANT, nullable=True),
        sa.Column("evaluation_id", ID, nullable=True),
        primary_key("flag", "id"),
        unique("flag", "run_id", "rule", "class_label"),
        whole_number("flag", "rule_version", at_least=1),
        one_of("flag", "severity", *SEVERITIES),
        one_of("flag", "settled_severity", *SEVERITIES),
        one_of("flag", "state", "open", "acknowledged", "snoozed", "dismissed", "closed"),
        check("flag", "snoozed_until", "(state = 'snoozed') = (snoozed_until IS NOT NULL)"),
        check("flag", "dismissed_for_reason", "state <> 'dismissed' OR reason IS NOT NULL"),
        check("flag", "closed_at", "(state = 'closed') = (closed_at IS NOT NULL)"),
        foreign_key("flag", "run_id", "run", ondelete="CASCADE"),
        foreign_key("flag", "evaluation_id", "evaluation", ondelete="SET NULL"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_flag_state_severity"), "flag", ["state", "severity"])
    op.create_index(op.f("ix_flag_evaluation_id"), "flag", ["evaluation_id"])
    op.create_table(
        "flag_event",
        sa.Column("id", ID, nullable=False),
        sa.Column("flag_id", ID, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("text", TEXT, nullable=True),
        primary_key("flag_event", "id"),
        one_of(
            "flag_event",
            "kind",
            "opened",
            "acknowledged",
            "snoozed",
            "dismissed",
            "reopened",
            "closed",
            "assigned",
            "commented",
            "updated",
        ),
        foreign_key("flag_event", "flag_id", "flag", ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_flag_event_flag_id"), "flag_event", ["flag_id"])


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


def check(table: str, name: str, condition: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(condition, name=op.f(f"ck_{table}_{name}"))


def one_of(table: str, column: str, *words: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return check(table, column, f"{column} IN ({listed})")


def whole_number(table: str, column: str, *, at_least: int = 0) -> sa.CheckConstraint:
    return check(table, column, f"{column} BETWEEN {at_least} AND {2**31 - 1}")
