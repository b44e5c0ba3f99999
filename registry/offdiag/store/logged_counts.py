"""Counts that are logged to runs instead of predictions: matrices and counted samples.

An uploaded matrix is stored in the orientation it came in. Counted samples are stored by the slice
columns that they were counted by.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.inputs.counted_samples import CountedSamples
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix
from offdiag.metrics.orientation import to_canonical
from offdiag.store import codec
from offdiag.store.models import CountedSamplesRow, CountedSliceRow, RunRow, UploadedMatrixRow
from offdiag.store.slices import column_of, stored_column


def insert_matrix(
    session: Session, run_id: str, matrix: ConfusionMatrix, source: SourceOrientation
) -> None:
    """Store a canonical matrix as it was uploaded, in `source` orientation."""
    uploaded = to_canonical(matrix.counts, source)  # Applying it twice restores the upload.
    session.add(
        UploadedMatrixRow(
            run_id=run_id, n_classes=matrix.n_classes, cells=codec.encode_counts(uploaded)
        )
    )
    session.flush()  # Constraint errors should be raised by this statement.


def read_matrix(
    session: Session, run_id: str, labels: LabelSet, source: SourceOrientation
) -> ConfusionMatrix:
    """The uploaded matrix of a run, in canonical orientation."""
    row = session.get_one(UploadedMatrixRow, run_id)
    with codec.damage_of(f"uploaded matrix of run {run_id}"):
        uploaded = codec.decode_counts(row.cells, len(labels))
    return confusion_matrix(uploaded, labels=labels, orientation=source)


def insert_counted_samples(session: Session, run_id: str, counted: CountedSamples) -> None:
    """Store the counts of a run by its slice columns and scores.

    Does nothing if there are neither, as the matrix then has all counts.
    """
    if counted.are_a_matrix:
        return
    session.add(
        CountedSamplesRow(
            run_id=run_id,
            n_kinds=len(counted),
            dtype=counted.actual.dtype.str[1:],
            codec=codec.RAW,
            actual=codec.encode_codes(counted.actual),
            predicted=codec.encode_codes(counted.predicted),
            sizes=codec.encode_sizes(counted.sizes),
            scores=_encoded_scores(counted),
        )
    )
    session.flush()  # The slices refer to it.
    for name, column in counted.slices.items():
        session.add(CountedSliceRow(run_id=run_id, name=name, **stored_column(column)))
    session.flush()  # Constraint errors should be raised by this statement.


def find_counted_samples(session: Session, run_id: str) -> CountedSamples | None:
    """The counts of a run by its slice columns and scores; None for a run that has neither."""
    row = session.get(CountedSamplesRow, run_id)
    if row is None:
        return None
    columns = session.scalars(
        select(CountedSliceRow)
        .where(CountedSliceRow.run_id == run_id)
        .order_by(CountedSliceRow.name)
    )
    sizes = codec.decode_sizes(row.sizes)
    has_events = row.scores is not None and codec.holds_events(row.scores)
    return CountedSamples(
        codec.decode_codes(row.actual, row.dtype),
        codec.decode_codes(row.predicted, row.dtype),
        sizes,
        {each.name: column_of(each) for each in columns},
        None if row.scores is None or has_events else codec.decode_cells(row.scores, sizes),
        codec.decode_events(row.scores) if row.scores is not None and has_events else (),
    )


def _encoded_scores(counted: CountedSamples) -> bytes | None:
    if counted.events:
        return codec.encode_events(counted.events)
    return None if counted.scores is None else codec.encode_cells(counted.scores)


def runs_with_slice_columns(
    session: Session, run_ids: Sequence[str], names: Sequence[str]
) -> set[str]:
    """Ids of those runs whose samples can be divided by slice columns of all these names.

    Predictions refer to label versions, which have all slice columns of their dataset; counts have
    those they were counted by, and a matrix alone has none.
    """
    counted_by = (
        select(func.count())
        .where(CountedSliceRow.run_id == RunRow.id, CountedSliceRow.name.in_(names))
        .scalar_subquery()
    )
    return set(
        session.scalars(
            select(RunRow.id).where(
                RunRow.id.in_(run_ids),
                or_(
                    RunRow.source_orientation == SourceOrientation.PREDICTIONS,
                    counted_by == len(set(names)),
                ),
            )
        )
    )
