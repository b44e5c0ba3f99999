"""What people write about runs, datasets and flags."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import IDS_ARE_NEVER_REUSED, Base, Identifier

TARGETS = ("run_id", "dataset_id", "flag_id")
_N_TARGETS = " + ".join(f"CASE WHEN {target} IS NULL THEN 0 ELSE 1 END" for target in TARGETS)


class CommentRow(Base):
    """A remark on exactly one run, dataset or flag; nobody changes it afterwards."""

    __tablename__ = "comment"
    __table_args__ = (
        CheckConstraint(f"{_N_TARGETS} = 1", name="about_one_thing"),
        *(Index(None, target) for target in TARGETS),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    run_id: Mapped[str | None] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    dataset_id: Mapped[int | None] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"))
    flag_id: Mapped[int | None] = mapped_column(ForeignKey("flag.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    author: Mapped[str | None]
    text: Mapped[str]
