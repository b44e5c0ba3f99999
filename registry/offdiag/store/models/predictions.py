"""Tables for predictions, scores and labels, stored by column in chunks, and for counts alone.

A chunk is one blob of plain little-endian codes. Counting a matrix reads the one or two bytes per
prediction it needs; scores are in rows of their own and not touched. Samples of chunk `seq` follow
those of chunk `seq - 1`.

Counts are stored by what the samples can be sliced by, one entry for each combination that occurs.
Runs that were counted together share these entries, and each adds what it predicts.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import Base, one_of, whole_number
from offdiag.store.models.datasets import ID_KINDS


class TruthChunkRow(Base):
    __tablename__ = "truth_chunk"
    __table_args__ = (whole_number("seq"), whole_number("n", at_least=1))

    truth_version_id: Mapped[int] = mapped_column(ForeignKey("truth_version.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    n: Mapped[int]
    dtype: Mapped[str]
    codec: Mapped[str]
    codes: Mapped[bytes]
    sample_ids: Mapped[bytes | None]
    sha256: Mapped[str]


class PredictionChunkRow(Base):
    """`positions` are the samples' places among the labels, NULL if they simply follow on.

    `counts` is the chunk's partial confusion matrix, so that a run's matrix is a sum. `weights`
    are those of the samples as plain float64, NULL if samples have none.
    """

    __tablename__ = "prediction_chunk"
    __table_args__ = (whole_number("seq"), whole_number("n", at_least=1))

    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    n: Mapped[int]
    dtype: Mapped[str]
    codec: Mapped[str]
    codes: Mapped[bytes]
    positions: Mapped[bytes | None]
    counts: Mapped[bytes | None]
    sha256: Mapped[str]
    weights: Mapped[bytes | None]


def _part_of_a_prediction_chunk() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["run_id", "seq"],
        ["prediction_chunk.run_id", "prediction_chunk.seq"],
        ondelete="CASCADE",
    )


class ScoreChunkRow(Base):
    """Scores of shape (n, n_columns), where n is that of the prediction chunk."""

    __tablename__ = "score_chunk"
    __table_args__ = (_part_of_a_prediction_chunk(), whole_number("n_columns", at_least=1))

    run_id: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    n_columns: Mapped[int]
    dtype: Mapped[str]
    codec: Mapped[str]
    scores: Mapped[bytes]


class PendingTruthRow(Base):
    """Labels that an open run logged; finishing the run makes them a label version.

    `codes` is NULL if the run relies on the labels its dataset already has and only says which
    samples it predicted.
    """

    __tablename__ = "pending_truth"
    __table_args__ = (_part_of_a_prediction_chunk(), one_of("id_kind", ID_KINDS))

    run_id: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    dtype: Mapped[str | None]
    codes: Mapped[bytes | None]
    id_kind: Mapped[str]
    sample_ids: Mapped[bytes | None]


class CountedSamplesRow(Base):
    """`actual` and `predicted` hold one code per kind of sample, `sizes` how many samples it has.

    `scores` are the summed scores of each kind, or of every class against the rest; NULL if none
    were counted.
    """

    __tablename__ = "counted_cases"
    __table_args__ = (whole_number("n_kinds", at_least=1),)

    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)
    n_kinds: Mapped[int]
    dtype: Mapped[str]
    codec: Mapped[str]
    actual: Mapped[bytes]
    predicted: Mapped[bytes]
    sizes: Mapped[bytes]
    scores: Mapped[bytes | None]


class CountedSliceRow(Base):
    """`codes` holds one code per kind of sample, an index into `levels`."""

    __tablename__ = "counted_slice"

    run_id: Mapped[str] = mapped_column(
        ForeignKey("counted_cases.run_id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(primary_key=True)
    levels: Mapped[list[str]]
    dtype: Mapped[str]
    codec: Mapped[str]
    codes: Mapped[bytes]


class PairedSamplesRow(Base):
    """Kinds of samples that several runs were counted by together, `sizes` of each.

    `slices` describes the columns in `slice_codes`, in their order.
    """

    __tablename__ = "paired_counts"
    __table_args__ = (whole_number("n_kinds", at_least=1),)

    id: Mapped[str] = mapped_column(primary_key=True)
    n_kinds: Mapped[int]
    dtype: Mapped[str]
    codec: Mapped[str]
    actual: Mapped[bytes]
    sizes: Mapped[bytes]
    slices: Mapped[list[dict[str, Any]]]
    slice_codes: Mapped[bytes]


class PairedRunRow(Base):
    """A run's prediction for each kind of samples of `paired_counts`, in their order."""

    __tablename__ = "paired_run"
    __table_args__ = (Index(None, "paired_id"),)

    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)
    paired_id: Mapped[str] = mapped_column(ForeignKey("paired_counts.id"), primary_key=True)
    predicted: Mapped[bytes]
