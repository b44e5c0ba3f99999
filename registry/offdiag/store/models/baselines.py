"""The run that all others of a dataset are compared with."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import Base


class BaselineRow(Base):
    """At most one for each dataset. In a table of its own, because a run refers to its dataset."""

    __tablename__ = "baseline"

    dataset_id: Mapped[int] = mapped_column(
        ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    author: Mapped[str | None]
    pinned_at: Mapped[datetime]
