"""What pictures of scores are drawn from, kept with the results they belong to."""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import LARGEST_BIG_INTEGER, Base, whole_number
from offdiag.store.models.evaluations import AGGREGATE


class ScoreCurveRow(Base):
    """One class against the rest, or the top label where `class_index` is -1.

    `n_thresholds` is the number of points the exact curve has, of which `points` holds few.
    `bins` is absent for scores that are no probabilities.
    """

    __tablename__ = "score_curve"
    __table_args__ = (
        whole_number("class_index", at_least=AGGREGATE),
        whole_number("n_positive", at_most=LARGEST_BIG_INTEGER),
        whole_number("n_negative", at_most=LARGEST_BIG_INTEGER),
        whole_number("n_thresholds", at_most=LARGEST_BIG_INTEGER),
    )

    evaluation_id: Mapped[int] = mapped_column(
        ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True
    )
    class_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    n_positive: Mapped[int] = mapped_column(BigInteger)
    n_negative: Mapped[int] = mapped_column(BigInteger)
    n_thresholds: Mapped[int] = mapped_column(BigInteger)
    points: Mapped[bytes]
    bins: Mapped[bytes | None]
    histogram: Mapped[bytes]
