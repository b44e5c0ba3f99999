"""Slice columns: what else is known of each sample, such as its country or device.

They belong to the samples, not to their labels, so a lineage of truth versions keeps them once,
with its first version.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, ForeignKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import Base


class TruthSliceRow(Base):
    """`codes` holds one code per sample in the order of the truth, an index into `levels`."""

    __tablename__ = "truth_slice"

    truth_version_id: Mapped[int] = mapped_column(
        ForeignKey("truth_version.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(primary_key=True)
    levels: Mapped[list[str]]
    dtype: Mapped[str]
    codec: Mapped[str]
    codes: Mapped[bytes]
    created_at: Mapped[datetime]


class PendingSliceRow(Base):
    """Slice values an open run brings along with one chunk, until it is finished."""

    __tablename__ = "pending_slice"
    __table_args__ = (
        ForeignKeyConstraint(
            ["run_id", "seq"],
            ["prediction_chunk.run_id", "prediction_chunk.seq"],
            ondelete="CASCADE",
        ),
    )

    run_id: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(primary_key=True)
    levels: Mapped[list[str]]
    dtype: Mapped[str]
    codec: Mapped[str]
    codes: Mapped[bytes]
