"""Tables for schedules, the editions of reports, their files, and the deliveries of these.

The row of an edition marks that its schedule ran: only one scheduler can insert it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import (
    IDS_ARE_NEVER_REUSED,
    Base,
    Identifier,
    finite,
    one_of,
    whole_number,
)

_DUE_ORDER = text("next_due IS NOT NULL")


class ScheduleRow(Base):
    """`next_due` is in seconds since 1970, NULL while the schedule is paused.

    `last_fire` is the local time of the latest due time that was run, with its zone. `delivery`
    names targets and holds no secrets. `version` counts the changes a user made.
    """

    __tablename__ = "schedule"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        whole_number("version", at_least=1),
        finite("next_due"),
        CheckConstraint("enabled = (next_due IS NOT NULL)", name="due_while_enabled"),
        Index(
            "ix_schedule_next_due",
            "next_due",
            sqlite_where=_DUE_ORDER,
            postgresql_where=_DUE_ORDER,
        ),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str]
    cron: Mapped[str]
    zone: Mapped[str]
    scope: Mapped[dict[str, Any]]
    delivery: Mapped[list[dict[str, Any]]]
    enabled: Mapped[bool]
    version: Mapped[int]
    last_fire: Mapped[str | None]
    next_due: Mapped[float | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


EDITION_STATES = ("pending", "computed", "failed")
FILE_KINDS = ("html", "markdown", "json", "csv")
DELIVERY_STATES = ("pending", "sent", "failed", "refused")


class ReportEditionRow(Base):
    """`fire_time` is the due time in local time with its zone; `due` is in seconds since 1970.

    Editions of one name in one project are numbered consecutively: they form a series even if
    their schedule was removed and created again, or never existed. Scope and delivery are those of
    the schedule at that moment. `summary` is what lists show of a computed edition; editions of
    earlier versions have none. Tables and columns keep the name that editions had in the first
    versions: issues.
    """

    __tablename__ = "report_issue"
    __table_args__ = (
        UniqueConstraint("schedule_id", "fire_time"),
        UniqueConstraint("project_id", "name", "number"),
        whole_number("number", at_least=1),
        whole_number("covers_missed"),
        finite("due"),
        one_of("state", EDITION_STATES),
        CheckConstraint("(state = 'computed') = (computed_at IS NOT NULL)", name="computed_at"),
        CheckConstraint(
            "(state = 'computed') = (headline IS NOT NULL AND data_digest IS NOT NULL)",
            name="computed_says_something",
        ),
        CheckConstraint("(state = 'failed') = (error IS NOT NULL)", name="failed_says_why"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    schedule_id: Mapped[int | None] = mapped_column(ForeignKey("schedule.id", ondelete="SET NULL"))
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str]
    number: Mapped[int]
    fire_time: Mapped[str]
    due: Mapped[float]
    state: Mapped[str]
    covers_missed: Mapped[int] = mapped_column(server_default=text("0"))
    scope: Mapped[dict[str, Any]]
    delivery: Mapped[list[dict[str, Any]]]
    headline: Mapped[str | None]
    data_digest: Mapped[str | None]
    error: Mapped[str | None]
    created_at: Mapped[datetime]
    computed_at: Mapped[datetime | None]
    summary: Mapped[dict[str, Any] | None]


class ReportFileRow(Base):
    """One form of a computed edition, byte for byte as it was frozen."""

    __tablename__ = "report_file"
    __table_args__ = (one_of("kind", FILE_KINDS),)

    edition_id: Mapped[int] = mapped_column(
        "issue_id", ForeignKey("report_issue.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = mapped_column(primary_key=True)
    content_type: Mapped[str]
    content: Mapped[bytes]
    sha256: Mapped[str]


class DeliveryRow(Base):
    """The delivery of one edition to one target. `error` is that of the latest attempt."""

    __tablename__ = "delivery"
    __table_args__ = (
        one_of("state", DELIVERY_STATES),
        whole_number("attempts"),
        CheckConstraint("(state = 'sent') = (sent_at IS NOT NULL)", name="sent_at"),
        Index(None, "issue_id"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    edition_id: Mapped[int] = mapped_column(
        "issue_id", ForeignKey("report_issue.id", ondelete="CASCADE")
    )
    target: Mapped[dict[str, Any]]
    state: Mapped[str]
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    error: Mapped[str | None]
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
