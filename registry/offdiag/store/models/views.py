"""Views of lists that somebody gave a name."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import Base


class SavedViewRow(Base):
    """`slug` is the end of its address. `page` and `query` are a path and a query string."""

    __tablename__ = "saved_view"
    __table_args__ = (UniqueConstraint("page", "name"),)

    slug: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    page: Mapped[str]
    query: Mapped[str]
    author: Mapped[str | None]
    created_at: Mapped[datetime]
