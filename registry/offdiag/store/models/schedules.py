"""Schedules: when reports are issued, and when the next one is due."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import IDS_ARE_NEVER_REUSED, Base, finite, whole_number
from offdiag.store.types import Identifier

_DUE_ORDER = text("next_due IS NOT NULL")


class ScheduleRow(Base):
    """`next_due` is in seconds since 1970, absent while the schedule is paused.

    `last_fire` is the local wall time of the latest fire with its zone. `delivery` names
    targets and holds no secrets. `version` counts the changes a user made.
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
