"""Counts of cases whose predictions stay where they are.

They are kept by what the cases can be sliced by, one entry for each combination that occurs.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import Base, whole_number


class CountedCasesRow(Base):
    """`actual` and `predicted` hold one code per kind of case, `sizes` how many cases it has."""

    __tablename__ = "counted_cases"
    __table_args__ = (whole_number("n_kinds", at_least=1),)

    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)
    n_kinds: Mapped[int]
    dtype: Mapped[str]
    codec: Mapped[str]
    actual: Mapped[bytes]
    predicted: Mapped[bytes]
    sizes: Mapped[bytes]


class CountedSliceRow(Base):
    """`codes` holds one code per kind of case, an index into `levels`."""

    __tablename__ = "counted_slice"

    run_id: Mapped[str] = mapped_column(
        ForeignKey("counted_cases.run_id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(primary_key=True)
    levels: Mapped[list[str]]
    dtype: Mapped[str]
    codec: Mapped[str]
    codes: Mapped[bytes]
