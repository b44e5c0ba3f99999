"""What samples look like, once for all runs of a dataset, and labels that people propose."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import Base


class SampleContentRow(Base):
    """One sample, named by its identifier, or its position where it has none, as text.

    `image_digest` is that of the bytes that were sent. Stored are only pictures that offdiag
    encoded itself: `thumbnail`, and `image` where the picture was larger than that.
    """

    __tablename__ = "sample_content"
    __table_args__ = (
        CheckConstraint(
            "(image_digest IS NULL) = (thumbnail IS NULL) "
            "AND (image_digest IS NULL) = (image_type IS NULL)",
            name="whole_image",
        ),
    )

    dataset_id: Mapped[int] = mapped_column(
        ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True
    )
    sample: Mapped[str] = mapped_column(primary_key=True)
    logged_at: Mapped[datetime]
    text: Mapped[str | None]
    fields: Mapped[dict[str, Any] | None]
    audio: Mapped[str | None]
    image_digest: Mapped[str | None]
    image_type: Mapped[str | None]
    # Pictures last: SQLite reads a row up to the last column that is asked for.
    thumbnail: Mapped[bytes | None]
    image: Mapped[bytes | None]


class LabelAnswerRow(Base):
    """What a person says the label of a sample is; NULL that it cannot be told.

    `published_in` is the number of the label version that was made of it, 0 while it is a
    proposal. A final answer decides where people disagree.
    """

    __tablename__ = "label_answer"

    dataset_id: Mapped[int] = mapped_column(
        ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True
    )
    published_in: Mapped[int] = mapped_column(primary_key=True)
    sample: Mapped[str] = mapped_column(primary_key=True)
    author: Mapped[str] = mapped_column(primary_key=True)
    is_final: Mapped[bool] = mapped_column(primary_key=True)
    label: Mapped[str | None]
    note: Mapped[str | None]
    answered_at: Mapped[datetime]
