"""The predictions of a run chunk by chunk, with scores where they are needed.

A run of ten million predictions has a hundred and fifty chunks. Codes take a byte a prediction
and are read past one chunk at a time; scores take forty and more, so only the chunks that are
asked for by number are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.arrays.labels import Codes
from offdiag.store import codec
from offdiag.store.chunks import decode_positions
from offdiag.store.models import PredictionChunkRow, ScoreChunkRow

_MOST_NUMBERS = 500
"""Chunks that are asked for one by one; more of them are read past."""


@dataclass(frozen=True, eq=False)
class PredictionChunk:
    """Predicted codes (n,) of one chunk, with scores (n, columns) where they were asked for.

    `positions` are the samples' places in the truth, None where they follow on.
    """

    seq: int
    predicted: Codes
    positions: NDArray[np.unsignedinteger[Any]] | None
    scores: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.predicted)


def read_predictions(session: Session, run_id: str) -> Iterator[PredictionChunk]:
    """All chunks of a run in order, without scores."""
    rows = session.execute(
        select(*_of_prediction())
        .where(PredictionChunkRow.run_id == run_id)
        .order_by(PredictionChunkRow.seq)
        .execution_options(yield_per=8)
    )
    for row in rows:
        yield _chunk(row)


def read_scored(session: Session, run_id: str, seqs: Collection[int]) -> Iterator[PredictionChunk]:
    """Some chunks of a run in order with their scores, of which one is in memory at a time."""
    wanted = frozenset(seqs)
    if not wanted:
        return
    statement = (
        select(*_of_prediction(), ScoreChunkRow.scores, ScoreChunkRow.n_columns)
        .join(
            ScoreChunkRow,
            (ScoreChunkRow.run_id == PredictionChunkRow.run_id)
            & (ScoreChunkRow.seq == PredictionChunkRow.seq),
        )
        .where(
            PredictionChunkRow.run_id == run_id,
            PredictionChunkRow.seq.between(min(wanted), max(wanted)),
        )
        .order_by(PredictionChunkRow.seq)
        .execution_options(yield_per=1)
    )
    if len(wanted) <= _MOST_NUMBERS:
        statement = statement.where(PredictionChunkRow.seq.in_(sorted(wanted)))
    for *prediction, scores, n_columns in session.execute(statement):
        if prediction[0] in wanted:
            yield _chunk(prediction, codec.decode_scores(scores, n_columns))


def _of_prediction() -> tuple[Any, ...]:
    return (
        PredictionChunkRow.seq,
        PredictionChunkRow.codes,
        PredictionChunkRow.dtype,
        PredictionChunkRow.n,
        PredictionChunkRow.positions,
    )


def _chunk(row: Sequence[Any], scores: NDArray[np.float32] | None = None) -> PredictionChunk:
    seq, codes, dtype, n, positions = row
    places = None if positions is None else decode_positions(positions, n)
    return PredictionChunk(seq, codec.decode_codes(codes, dtype), places, scores)
