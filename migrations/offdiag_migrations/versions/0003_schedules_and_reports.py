"""Keep schedules, the reports they issue, and signs of life."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003_schedules_and_reports"
down_revision = "0002_truth_revisions"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
# Sorted by code point, whatever the locale of the server.
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    create_schedules()
    create_issues()
    create_deliveries()
    create_heartbeats()


def downgrade() -> None:
    for table in ("heartbeat", "delivery", "report_file", "report_issue", "schedule"):
        op.drop_table(table)
    # No program could do this work any more.
    op.execute("DELETE FROM work WHERE task IN ('report', 'deliver')")


def create_schedules() -> None:
    op.create_table(
        "schedule",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("cron", TEXT, nullable=False),
        sa.Column("zone", TEXT, nullable=False),
        sa.Column("scope", JSON, nullable=False),
        sa.Column("delivery", JSON, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("last_fire", TEXT, nullable=True),
        sa.Column("next_due", sa.Double(), nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        primary_key("schedule", "id"),
        unique("schedule", "project_id", "name"),
        whole_number("schedule", "version", at_least=1),
        finite("schedule", "next_due"),
        check("schedule", "due_while_enabled", "enabled = (next_due IS NOT NULL)"),
        foreign_key("schedule", "project_id", "project"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_schedule_next_due"), "schedule", ["next_due"], **where("next_due IS NOT NULL")
    )


def create_issues() -> None:
    op.create_table(
        "report_issue",
        sa.Column("id", ID, nullable=False),
        sa.Column("schedule_id", ID, nullable=True),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("fire_time", TEXT, nullable=False),
        sa.Column("due", sa.Double(), nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("covers_missed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("scope", JSON, nullable=False),
        sa.Column("delivery", JSON, nullable=False),
        sa.Column("headline", TEXT, nullable=True),
        sa.Column("data_digest", TEXT, nullable=True),
        sa.Column("error", TEXT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("computed_at", INSTANT, nullable=True),
        primary_key("report_issue", "id"),
        unique("report_issue", "schedule_id", "fire_time"),
        unique("report_issue", "project_id", "name", "number"),
        whole_number("report_issue", "number", at_least=1),
        whole_number("report_issue", "covers_missed"),
        finite("report_issue", "due"),
        one_of("report_issue", "state", "pending", "computed", "failed"),
        check("report_issue", "computed_at", "(state = 'computed') = (computed_at IS NOT NULL)"),
        check(
            "report_issue",
            "computed_says_something",
            "(state = 'computed') = (headline IS NOT NULL AND data_digest IS NOT NULL)",
        ),
        check("report_issue", "failed_says_why", "(state = 'failed') = (error IS NOT NULL)"),
        foreign_key("report_issue", "schedule_id", "schedule", ondelete="SET NULL"),
        foreign_key("report_issue", "project_id", "project"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "report_file",
        sa.Column("issue_id", ID, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("content_type", TEXT, nullable=False),
        # Text, which is worth compressing, unlike the blobs of numbers.
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", TEXT, nullable=False),
        primary_key("report_file", "issue_id", "kind"),
        one_of("report_file", "kind", "html", "markdown", "json", "csv"),
        foreign_key("report_file", "issue_id", "report_issue", ondelete="CASCADE"),
    )


def create_deliveries() -> None:
    op.create_table(
        "delivery",
        sa.Column("id", ID, nullable=False),
        sa.Column("issue_id", ID, nullable=False),
        sa.Column("target", JSON, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error", TEXT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("sent_at", INSTANT, nullable=True),
        primary_key("delivery", "id"),
        one_of("delivery", "state", "pending", "sent", "failed", "refused"),
        whole_number("delivery", "attempts"),
        check("delivery", "sent_at", "(state = 'sent') = (sent_at IS NOT NULL)"),
        foreign_key("delivery", "issue_id", "report_issue", ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_delivery_issue_id"), "delivery", ["issue_id"])


def create_heartbeats() -> None:
    op.create_table(
        "heartbeat",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("host", TEXT, nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        primary_key("heartbeat", "name"),
        one_of("heartbeat", "kind", "worker", "scheduler"),
        whole_number("heartbeat", "pid"),
        finite("heartbeat", "seen_at"),
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


def check(table: str, name: str, condition: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(condition, name=op.f(f"ck_{table}_{name}"))


def one_of(table: str, column: str, *words: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return check(table, column, f"{column} IN ({listed})")


def whole_number(table: str, column: str, *, at_least: int = 0) -> sa.CheckConstraint:
    return check(table, column, f"{column} BETWEEN {at_least} AND {2**31 - 1}")


def finite(table: str, column: str) -> sa.CheckConstraint:
    low, high = (f"CAST('{bound}' AS DOUBLE PRECISION)" for bound in ("-1e300", "1e300"))
    return check(table, column, f"{column} BETWEEN {low} AND {high}")


def where(predicate: str) -> dict[str, Any]:
    """Options of a partial index, which has only the rows that meet the predicate."""
    return {"sqlite_where": sa.text(predicate), "postgresql_where": sa.text(predicate)}
