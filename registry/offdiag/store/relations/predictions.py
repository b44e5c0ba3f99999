"""Reading the relation `predictions`, a few chunks at a time.

The labels of one dataset are in memory while its runs are read: a byte or two per sample, and ids
and slices only if a query needs them. Predictions and scores are streamed. They never change, so
they are read in many short transactions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import Task
from offdiag.inputs.ids import SampleIds
from offdiag.inputs.labels import Codes
from offdiag.inputs.slice_columns import SliceColumn
from offdiag.store import codec
from offdiag.store.evaluations import has_results_of_run
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    PredictionChunkRow,
    RunRow,
    ScoreChunkRow,
)
from offdiag.store.predictions import decode_positions
from offdiag.store.relations.columns import (
    RequestedColumns,
    ScopedRun,
    batch_of_arrays,
    named,
    repeated,
)
from offdiag.store.slices import slice_columns
from offdiag.store.truths import TruthRecord, get_truth, truth_codes, truth_ids

_CHUNKS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class PredictedRun:
    """A complete run with predictions. `truth_id` is the label version of its results."""

    id: str
    truth_id: int
    labels: tuple[str, ...]
    positive: int | None


@dataclass(frozen=True, eq=False)
class TruthSide:
    """The label side of predictions: codes (n,) of the samples of one label version.

    Ids and slices are present if they are wanted.
    """

    version: TruthRecord
    codes: Codes
    ids: SampleIds | None
    slices: dict[str, SliceColumn]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where reading a run continues: after a chunk, whose predictions end before `start`."""

    seq: int = -1
    start: int = 0


def predicted_run(session: Session, run_id: str) -> PredictedRun | None:
    """The run, None if it has no single-label predictions on known labels."""
    row = session.execute(
        select(
            func.coalesce(EvaluationRow.truth_version_id, RunRow.truth_version_id),
            LabelSetRow.names,
            DatasetRow.positive_label,
        )
        .select_from(RunRow)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .outerjoin(EvaluationRow, has_results_of_run())
        .where(
            RunRow.id == run_id,
            RunRow.deleted_at.is_(None),
            RunRow.n_predictions > 0,
            RunRow.truth_version_id.is_not(None),
            DatasetRow.task != Task.MULTILABEL,
        )
    ).one_or_none()
    if row is None:
        return None
    truth_id, names, positive = row
    return PredictedRun(
        run_id, truth_id, tuple(names), None if positive is None else names.index(positive)
    )


def truth_side(session: Session, truth_id: int, wanted: RequestedColumns) -> TruthSide:
    """The labels of a version, with the ids and slices that a query wants."""
    version = get_truth(session, truth_id)
    slices = slice_columns(session, version.root_id) if "slices" in wanted else {}
    ids = truth_ids(session, version) if "sample_id" in wanted else None
    return TruthSide(version, truth_codes(session, truth_id), ids, slices)


def prediction_rows(
    session: Session,
    run: PredictedRun,
    truth: TruthSide,
    *,
    place: ScopedRun,
    wanted: RequestedColumns,
    after: Progress,
) -> tuple[list[pa.Table], Progress | None]:
    """The next few chunks of a run, and where to continue; None at its end. One statement."""
    with_scores = "score" in wanted or "scores" in wanted
    statement = (
        select(
            PredictionChunkRow.seq,
            PredictionChunkRow.n,
            PredictionChunkRow.dtype,
            PredictionChunkRow.codes,
            PredictionChunkRow.positions,
        )
        .where(PredictionChunkRow.run_id == run.id, PredictionChunkRow.seq > after.seq)
        .order_by(PredictionChunkRow.seq)
        .limit(_CHUNKS_AT_ONCE)
    )
    if with_scores:
        statement = statement.outerjoin(
            ScoreChunkRow,
            (ScoreChunkRow.run_id == PredictionChunkRow.run_id)
            & (ScoreChunkRow.seq == PredictionChunkRow.seq),
        ).add_columns(ScoreChunkRow.scores, ScoreChunkRow.n_columns)
    rows = session.execute(statement).all()
    tables, start = [], after.start
    for row in rows:
        at = (
            np.arange(start, start + row.n)
            if row.positions is None
            else decode_positions(row.positions, row.n).astype(np.int64)
        )
        scored = with_scores and row.scores is not None
        chunk = _Chunk(
            at,
            codec.decode_codes(row.codes, row.dtype),
            codec.decode_scores(row.scores, row.n_columns) if scored else None,
        )
        tables.append(_chunk_table(place, run, truth, chunk, wanted))
        start += row.n
    ended = len(rows) < _CHUNKS_AT_ONCE
    return tables, None if ended else Progress(rows[-1].seq, start)


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Predictions of n samples: their places in the label version, predicted codes and scores."""

    at: NDArray[np.int64]
    predicted: Codes
    scores: NDArray[np.float32] | None


def _chunk_table(
    place: ScopedRun, run: PredictedRun, truth: TruthSide, chunk: _Chunk, wanted: RequestedColumns
) -> pa.Table:
    n = len(chunk.at)
    columns = {
        "run_id": lambda: repeated(place.id, n),
        "project": lambda: repeated(place.project, n),
        "dataset": lambda: repeated(place.dataset, n),
        "position": lambda: pa.array(chunk.at),
        "sample_id": lambda: _identifiers(truth.ids, chunk.at),
        "actual": lambda: named(run.labels, truth.codes[chunk.at]),
        "predicted": lambda: named(run.labels, chunk.predicted),
        "score": lambda: _positive_scores(chunk.scores, run.positive, n),
        "scores": lambda: _all_scores(chunk.scores, n),
        "slices": lambda: _slices(truth.slices, chunk.at),
    }
    return batch_of_arrays(columns, wanted)


def _identifiers(ids: SampleIds | None, at: NDArray[np.int64]) -> pa.Array:
    if ids is None:
        return pa.array(at).cast(pa.string())
    return pa.array(ids.take(at).values).cast(pa.string())


def _positive_scores(scores: NDArray[np.float32] | None, positive: int | None, n: int) -> pa.Array:
    if scores is None:
        return pa.nulls(n, pa.float32())
    if scores.shape[1] == 1:
        return pa.array(scores[:, 0])
    return pa.nulls(n, pa.float32()) if positive is None else pa.array(scores[:, positive])


def _all_scores(scores: NDArray[np.float32] | None, n: int) -> pa.Array:
    if scores is None:
        return pa.nulls(n, pa.list_(pa.float32()))
    ends = np.arange(n + 1, dtype=np.int32) * scores.shape[1]
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(scores.reshape(-1)))


def _slices(slices: dict[str, SliceColumn], at: NDArray[np.int64]) -> pa.Array:
    """A map for each sample, with the slice columns in the order of their names."""
    ends = np.arange(len(at) + 1, dtype=np.int32) * len(slices)
    names = pa.array(list(slices) * len(at), pa.string())
    if not slices:
        return pa.MapArray.from_arrays(pa.array(ends), names, pa.array([], pa.string()))
    texts = [named(column.levels, column.codes[at]) for column in slices.values()]
    # Reorder from column by column to sample by sample.
    places = np.arange(len(at))[:, np.newaxis] + np.arange(len(slices)) * len(at)
    values = pa.concat_arrays(texts).take(pa.array(places.ravel()))
    return pa.MapArray.from_arrays(pa.array(ends), names, values)
