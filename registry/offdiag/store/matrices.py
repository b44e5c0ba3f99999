"""Statements on uploaded matrices, kept in the orientation they came in."""

from __future__ import annotations

from sqlalchemy.orm import Session

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix
from offdiag.metrics.orientation import to_canonical
from offdiag.store import codec
from offdiag.store.models import UploadedMatrixRow


def insert_matrix(
    session: Session, run_id: str, matrix: ConfusionMatrix, source: SourceOrientation
) -> None:
    """Store a canonical matrix as it was uploaded, in `source` orientation."""
    uploaded = to_canonical(matrix.counts, source)  # Laying out twice restores the upload.
    session.add(
        UploadedMatrixRow(
            run_id=run_id, n_classes=matrix.n_classes, cells=codec.encode_counts(uploaded)
        )
    )
    session.flush()  # Constraint errors belong to this statement.


def read_matrix(
    session: Session, run_id: str, labels: LabelSet, source: SourceOrientation
) -> ConfusionMatrix:
    """The uploaded matrix of a run, laid out canonically."""
    row = session.get_one(UploadedMatrixRow, run_id)
    uploaded = codec.decode_counts(row.cells, row.n_classes)
    return confusion_matrix(uploaded, labels=labels, orientation=source)
