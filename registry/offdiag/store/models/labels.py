"""Label sets: ordered class names, each distinct set stored once."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import IDS_ARE_NEVER_REUSED, Base, whole_number
from offdiag.store.types import Identifier


class LabelSetRow(Base):
    """`digest` covers names, order and ordinality, so equal sets share one row.

    Whether the order was declared or inferred is a fact about a dataset, and stored there.
    """

    __tablename__ = "label_set"
    __table_args__ = (whole_number("n_classes", at_least=1), IDS_ARE_NEVER_REUSED)

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    names: Mapped[list[str]]
    n_classes: Mapped[int]
    ordinal: Mapped[bool]
