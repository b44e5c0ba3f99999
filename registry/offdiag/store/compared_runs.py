"""Reading what a comparison of runs needs: one statement per kind of data, however many runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import case, or_, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.inputs.labels import Codes
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix
from offdiag.store import codec
from offdiag.store.datasets import stored_labels
from offdiag.store.models import (
    DatasetRow,
    LabelSetRow,
    ProjectRow,
    RunRow,
    ScoreChunkRow,
    TruthVersionRow,
    UploadedMatrixRow,
)
from offdiag.store.predictions import PredictedChunk, predicted_chunks
from offdiag.store.runs import RunRecord, recorded
from offdiag.store.truths import TruthRecord, newest_number, truth_record

_ROWS_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun(RunRecord):
    """A run as a comparison needs it. `uploaded` is its matrix if it has no predictions.

    `truth` is the newest label version of its lineage, or for an uploaded matrix, whose counts do
    not change, the one that it was uploaded with.
    """

    project: str
    dataset: str
    task: Task
    labels: LabelSet
    positive_label: str | None
    truth: TruthRecord | None
    uploaded: ConfusionMatrix | None


@dataclass(frozen=True, slots=True)
class Predicted:
    """All predictions of a run; `positions` are their places in its label version, both (n,).

    `starts` is the index of the first prediction of each chunk, in the order of chunks.
    """

    codes: Codes
    positions: NDArray[np.int64]
    starts: NDArray[np.int64]


def compared_runs(session: Session, run_ids: Sequence[str]) -> dict[str, ComparedRun]:
    """Runs by id, without those that do not exist or were deleted."""
    head = aliased(TruthVersionRow)
    has_predictions = RunRow.source_orientation == SourceOrientation.PREDICTIONS
    newest = newest_number(TruthVersionRow)
    rows = session.execute(
        select(RunRow, ProjectRow.name, DatasetRow, LabelSetRow, head, UploadedMatrixRow)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == RunRow.truth_version_id)
        .outerjoin(
            head,
            (head.dataset_id == TruthVersionRow.dataset_id)
            & (head.root_id == TruthVersionRow.root_id)
            & (head.number == case((has_predictions, newest), else_=TruthVersionRow.number)),
        )
        .outerjoin(UploadedMatrixRow, UploadedMatrixRow.run_id == RunRow.id)
        .where(RunRow.id.in_(run_ids), RunRow.deleted_at.is_(None))
    )
    return {row[0].id: _run(row) for row in rows.all()}


def _run(row: Sequence[Any]) -> ComparedRun:
    run, project, dataset, label_set, head, uploaded = row
    labels = stored_labels(label_set, inferred=dataset.labels_inferred)
    source = SourceOrientation(run.source_orientation)
    return ComparedRun(
        **recorded(run),
        project=project,
        dataset=dataset.name,
        task=Task(dataset.task),
        labels=labels,
        positive_label=dataset.positive_label,
        truth=truth_record(head),
        uploaded=None if uploaded is None else _matrix(uploaded, labels, source),
    )


def _matrix(
    row: UploadedMatrixRow, labels: LabelSet, source: SourceOrientation
) -> ConfusionMatrix:
    with codec.damage_of(f"uploaded matrix of run {row.run_id}"):
        counts = codec.decode_counts(row.cells, len(labels))
    return confusion_matrix(counts, labels=labels, orientation=source)


def predictions_of(session: Session, run_ids: Sequence[str]) -> dict[str, Predicted]:
    parts: dict[str, list[PredictedChunk]] = {}
    for chunk in predicted_chunks(session, run_ids):
        parts.setdefault(chunk.run_id, []).append(chunk)
    return {
        run_id: Predicted(
            np.concatenate([chunk.codes for chunk in found]),
            np.concatenate([_places(chunk) for chunk in found]),
            np.array([chunk.start for chunk in found]),
        )
        for run_id, found in parts.items()
    }


def _places(chunk: PredictedChunk) -> NDArray[np.int64]:
    if chunk.positions is None:
        return np.arange(chunk.start, chunk.start + len(chunk.codes))
    return chunk.positions.astype(np.int64)


def score_chunks_of(
    session: Session, wanted: Mapping[str, Collection[int]]
) -> Iterator[tuple[str, int, NDArray[np.float32]]]:
    """Run, number and scores (n, columns) of the chunks with the wanted numbers."""
    rows = session.execute(
        select(
            ScoreChunkRow.run_id, ScoreChunkRow.seq, ScoreChunkRow.scores, ScoreChunkRow.n_columns
        )
        .where(
            or_(
                *(
                    (ScoreChunkRow.run_id == run_id) & ScoreChunkRow.seq.in_(seqs)
                    for run_id, seqs in wanted.items()
                )
            )
        )
        .execution_options(yield_per=1)
    )
    for run_id, seq, blob, n_columns in rows:
        yield run_id, seq, codec.decode_scores(blob, n_columns)
