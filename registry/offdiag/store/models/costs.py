"""Cost matrices: what the errors of a classifier cost, under a name and in versions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import IDS_ARE_NEVER_REUSED, Base, whole_number
from offdiag.store.types import Identifier


class CostMatrixRow(Base):
    """One version, which never changes: a change is another version.

    `weights` are K times K float64, little-endian, the actual class along the first axis, in
    the order of the label set.
    """

    __tablename__ = "cost_matrix"
    __table_args__ = (
        UniqueConstraint("project_id", "name", "version"),
        whole_number("version", at_least=1),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str]
    version: Mapped[int]
    label_set_id: Mapped[int] = mapped_column(ForeignKey("label_set.id"))
    weights: Mapped[bytes]
    currency: Mapped[str | None]
    author: Mapped[str | None]
    note: Mapped[str | None]
    created_at: Mapped[datetime]
