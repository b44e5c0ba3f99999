"""Projects: the folders that hold datasets and runs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import IDS_ARE_NEVER_REUSED, Base
from offdiag.store.types import Identifier


class ProjectRow(Base):
    __tablename__ = "project"
    __table_args__ = IDS_ARE_NEVER_REUSED

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
