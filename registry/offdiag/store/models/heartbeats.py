"""Signs of life of the processes that work and tick."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import Base, finite, one_of, whole_number

HEARTBEAT_KINDS = ("worker", "scheduler")


class HeartbeatRow(Base):
    """`seen_at` is in seconds since 1970 by the database's clock, which all hosts share."""

    __tablename__ = "heartbeat"
    __table_args__ = (one_of("kind", HEARTBEAT_KINDS), whole_number("pid"), finite("seen_at"))

    name: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    host: Mapped[str]
    pid: Mapped[int]
    started_at: Mapped[datetime]
    seen_at: Mapped[float]
