"""Answers to requests that may be sent again."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import Base


class KeptAnswerRow(Base):
    """What was answered to the request with a key; `status` is empty while it is worked on.

    `scope` is whose key it is, `digest` what was asked with it.
    """

    __tablename__ = "kept_answer"
    __table_args__ = (Index(None, "claimed_at"),)

    scope: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str]
    claimed_at: Mapped[datetime]
    status: Mapped[int | None]
    body: Mapped[str | None]
