"""Statements on the predictions of runs, chunk by chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, exists, func, insert, select, update
from sqlalchemy.orm import Session

from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import in_roomy_rows, nothing_labelled
from offdiag.inputs.scores import Scores
from offdiag.metrics.counted import SampleCounts, are_sets
from offdiag.metrics.pair_counts import OccupiedCells
from offdiag.metrics.weighted.counts import of_weights
from offdiag.store import codec
from offdiag.store.codec import decode_sample_counts, encode_sample_counts
from offdiag.store.models import (
    DatasetRow,
    LabelSetRow,
    PredictionChunkRow,
    RunRow,
    ScoreChunkRow,
)

# Built once, because every chunk that arrives needs it. Rows bypass the session, which would take
# several times as long to keep objects that are never used.
_SHA256 = select(PredictionChunkRow.sha256).where(
    PredictionChunkRow.run_id == bindparam("run_id"), PredictionChunkRow.seq == bindparam("seq")
)
_NEW_CHUNK = insert(PredictionChunkRow)
_NEW_SCORES = insert(ScoreChunkRow)
_ROWS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class ChunkMeta:
    """The facts about a stored chunk that need no reading of its blobs."""

    seq: int
    n: int
    sha256: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """Predicted codes of one chunk and the places of its samples among the labels.

    `positions` is None if the samples follow on, beginning with place `start`. `counts` are the
    stored counts of the chunk, None if they would be larger than the codes. `weight` (n,) are
    those of its samples, None if they have none.
    """

    seq: int
    start: int
    predicted: Codes
    positions: NDArray[np.unsignedinteger[Any]] | None
    counts: SampleCounts | None
    weight: NDArray[np.float64] | None = None

    def actual_in(self, truth: Codes) -> Codes:
        """The actual codes of this chunk's samples, taken from those of the label version."""
        following = slice(self.start, self.start + len(self.predicted))
        actual: Codes = truth[following if self.positions is None else self.positions]
        return actual


@dataclass(frozen=True, slots=True)
class PackedCounts:
    """Counts of a chunk, ready to be stored with it."""

    seq: int
    data: bytes


def chunk_sha256(session: Session, run_id: str, seq: int) -> str | None:
    """Digest of a stored chunk, None if the number is still free."""
    return session.scalar(_SHA256, {"run_id": run_id, "seq": seq})


def insert_chunk(
    session: Session,
    *,
    run_id: str,
    seq: int,
    predicted: Codes,
    scores: Scores | None,
    counts: SampleCounts | OccupiedCells | None,
    sha256: str,
    weight: NDArray[np.float64] | None = None,
) -> None:
    """Store one chunk, with scores and codes in separate rows."""
    codes = codec.encode_codes(predicted)
    connection = session.connection()
    connection.execute(
        _NEW_CHUNK,
        {
            "run_id": run_id,
            "seq": seq,
            "n": len(predicted),
            "dtype": codec.code_type(predicted),
            "codec": codec.code_codec(predicted),
            "codes": codes,
            "counts": _counts_if_smaller(counts, than=len(codes)),
            "sha256": sha256,
            "weights": None if weight is None else codec.encode_weights(weight),
        },
    )
    if scores is not None:
        connection.execute(
            _NEW_SCORES,
            {
                "run_id": run_id,
                "seq": seq,
                "n_columns": scores.n_columns,
                "dtype": codec.SCORE_TYPE,
                "codec": codec.RAW,
                "scores": codec.encode_scores(scores.values),
            },
        )


def chunk_places(session: Session, run_id: str, seq: int) -> NDArray[np.int64]:
    """The places of a chunk's samples in the label version of a complete run, shape (n,)."""
    row = PredictionChunkRow
    before = select(func.coalesce(func.sum(row.n), 0)).where(row.run_id == run_id, row.seq < seq)
    start = int(session.scalar(before) or 0)
    n, places = session.execute(
        select(row.n, row.positions).where(row.run_id == run_id, row.seq == seq)
    ).one()
    if places is None:
        return np.arange(start, start + n)
    return decode_positions(places, n).astype(np.int64)


def chunk_list(session: Session, run_id: str) -> list[ChunkMeta]:
    """All chunks of a run in order, without their blobs."""
    rows = session.execute(
        select(PredictionChunkRow.seq, PredictionChunkRow.n, PredictionChunkRow.sha256)
        .where(PredictionChunkRow.run_id == run_id)
        .order_by(PredictionChunkRow.seq)
    )
    return [ChunkMeta(seq, n, sha256) for seq, n, sha256 in rows]


def score_columns(session: Session, run_id: str) -> tuple[int, int, int]:
    """Number of chunks of a run that have scores, and the least and most columns (0 if none)."""
    columns = ScoreChunkRow.n_columns
    n_chunks, least, most = session.execute(
        select(func.count(), func.min(columns), func.max(columns)).where(
            ScoreChunkRow.run_id == run_id
        )
    ).one()
    return int(n_chunks), int(least or 0), int(most or 0)


def read_chunks(session: Session, run_id: str, *, n_classes: int) -> Iterator[StoredChunk]:
    """All chunks of a run in order, one at a time."""
    rows = session.execute(
        select(
            PredictionChunkRow.seq,
            PredictionChunkRow.n,
            PredictionChunkRow.dtype,
            PredictionChunkRow.codes,
            PredictionChunkRow.positions,
            PredictionChunkRow.counts,
            PredictionChunkRow.weights,
        )
        .where(PredictionChunkRow.run_id == run_id)
        .order_by(PredictionChunkRow.seq)
        .execution_options(yield_per=16)
    )
    start = 0
    for seq, n, dtype, codes, positions, counts, weights in rows:
        with codec.damage_of(f"chunk {seq} of run {run_id}"):
            chunk = StoredChunk(
                seq,
                start,
                codec.require_codes(codec.decode_codes(codes, dtype), n, n_classes),
                None if positions is None else decode_positions(positions, n),
                None if counts is None else decode_sample_counts(counts, n_classes),
                None if weights is None else codec.decode_weights(weights),
            )
        yield chunk
        start += n


def largest_weight(session: Session, run_id: str) -> tuple[int, float]:
    """Number of chunks of a run that have weights, and the largest weight of any (0 if none)."""
    n_chunks, largest = 0, 0.0
    found = session.scalars(
        select(PredictionChunkRow.weights)
        .where(PredictionChunkRow.run_id == run_id, PredictionChunkRow.weights.is_not(None))
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )
    for blob in found:
        assert blob is not None  # noqa: S101  # The condition of the statement.
        n_chunks += 1
        largest = max(largest, float(codec.decode_weights(blob).max(initial=0.0)))
    return n_chunks, largest


def weights_in_truth_order(
    session: Session, run_ids: Sequence[str], *, n_samples: int
) -> dict[str, NDArray[np.float64]]:
    """Weight of each sample of the label version by run, 0 if missing; only for weighted runs."""
    found: dict[str, NDArray[np.float64]] = {}
    starts: Counter[str] = Counter()
    rows = session.execute(
        select(
            PredictionChunkRow.run_id,
            PredictionChunkRow.n,
            PredictionChunkRow.positions,
            PredictionChunkRow.weights,
        )
        .where(PredictionChunkRow.run_id.in_(run_ids), PredictionChunkRow.weights.is_not(None))
        .order_by(PredictionChunkRow.run_id, PredictionChunkRow.seq)
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )
    for run_id, n, positions, weights in rows:
        assert weights is not None  # noqa: S101  # The condition of the statement.
        start = starts[run_id]
        starts[run_id] += n
        places = slice(start, start + n) if positions is None else decode_positions(positions, n)
        found.setdefault(run_id, np.zeros(n_samples))[places] = codec.decode_weights(weights)
    return found


def lack_counts(session: Session, run_id: str) -> bool:
    """Whether some chunk of a run has no counts."""
    some = select(PredictionChunkRow.seq).where(
        PredictionChunkRow.run_id == run_id, PredictionChunkRow.counts.is_(None)
    )
    return bool(session.scalar(select(exists(some))))


def partial_counts(session: Session, run_id: str, *, n_classes: int) -> list[SampleCounts | None]:
    """The stored counts of the chunks of a run, None for chunks that have none."""
    blobs = session.scalars(
        select(PredictionChunkRow.counts)
        .where(PredictionChunkRow.run_id == run_id)
        .order_by(PredictionChunkRow.seq)
    )
    return [None if blob is None else decode_sample_counts(blob, n_classes) for blob in blobs]


def read_scores(session: Session, run_id: str) -> NDArray[np.float32] | None:
    """All scores of a run in chunk order, shape (n, columns), None if it has none."""
    return scores_of(session, [run_id]).get(run_id)


def scores_of(session: Session, run_ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The scores of several runs, by run, without those that have none; one statement."""
    rows = session.execute(
        select(ScoreChunkRow.run_id, ScoreChunkRow.scores, ScoreChunkRow.n_columns)
        .where(ScoreChunkRow.run_id.in_(run_ids))
        .order_by(ScoreChunkRow.run_id, ScoreChunkRow.seq)
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )
    parts: dict[str, list[NDArray[np.float32]]] = {}
    for run_id, blob, n_columns in rows:
        with codec.damage_of(f"scores of run {run_id}"):
            parts.setdefault(run_id, []).append(codec.decode_scores(blob, n_columns))
    return {run_id: np.concatenate(found) for run_id, found in parts.items()}


def read_score_chunks(session: Session, run_id: str) -> Generator[NDArray[np.float32], None, None]:
    """The scores of a run chunk by chunk, in order, each (n, columns); close it after use."""
    found = session.execute(
        select(ScoreChunkRow.scores, ScoreChunkRow.n_columns)
        .where(ScoreChunkRow.run_id == run_id)
        .order_by(ScoreChunkRow.seq)
        .execution_options(yield_per=1)
    )
    with found as rows:
        for blob, columns in rows:
            yield codec.decode_scores(blob, columns)


def place_chunk(
    session: Session,
    run_id: str,
    seq: int,
    *,
    positions: NDArray[np.int64] | None,
    counts: SampleCounts | OccupiedCells,
    predicted: Codes,
) -> None:
    """Record the places of a chunk's samples in the label version, and its counts."""
    session.execute(
        update(PredictionChunkRow)
        .where(PredictionChunkRow.run_id == run_id, PredictionChunkRow.seq == seq)
        .values(
            positions=None if positions is None else _encode_positions(positions),
            counts=_counts_if_smaller(counts, than=predicted.nbytes),
        )
    )


def pack_counts(seq: int, counts: SampleCounts, predicted: Codes) -> PackedCounts | None:
    """Counts to store with their chunk, None if counting again is cheaper."""
    data = _counts_if_smaller(counts, than=predicted.nbytes)
    return None if data is None else PackedCounts(seq, data)


def keep_counts(session: Session, run_id: str, part: PackedCounts) -> None:
    """Store counts that were recomputed."""
    session.execute(
        update(PredictionChunkRow)
        .where(PredictionChunkRow.run_id == run_id, PredictionChunkRow.seq == part.seq)
        .values(counts=part.data)
    )


def _encode_positions(positions: NDArray[np.int64]) -> bytes:
    wide = bool((positions >= 1 << 32).any())
    return positions.astype("<u8" if wide else "<u4").tobytes()


def decode_positions(blob: bytes, n: int) -> NDArray[np.unsignedinteger[Any]]:
    """Places in the label version of the n samples of a chunk, in as many bytes as they take."""
    return np.frombuffer(blob, f"<u{len(blob) // n}")


def _counts_if_smaller(counts: SampleCounts | OccupiedCells | None, *, than: int) -> bytes | None:
    # With very many classes a sparse matrix is larger than the codes it was counted from;
    # then counting again is cheaper than storing it.
    if counts is None:
        return None
    packed = encode_sample_counts(counts)
    return packed if len(packed) <= max(than, 4096) else None


@dataclass(frozen=True, slots=True)
class PredictedChunk:
    """A chunk with predicted codes (n,) and the places of its samples.

    `start` counts the predictions of the run before it; without `positions` (n,) the samples are
    at consecutive places from there.
    """

    run_id: str
    start: int
    codes: Codes
    positions: NDArray[np.unsignedinteger[Any]] | None
    is_weighted: bool = False

    @property
    def places(self) -> slice | NDArray[np.unsignedinteger[Any]]:
        """The places of the samples in the label version, as an index."""
        if self.positions is None:
            return slice(self.start, self.start + len(self.codes))
        return self.positions


def predicted_chunks(session: Session, run_ids: Sequence[str]) -> Iterator[PredictedChunk]:
    """All chunks of runs, run by run in the order they were logged in; one statement."""
    rows = session.execute(
        select(
            PredictionChunkRow.run_id,
            PredictionChunkRow.n,
            PredictionChunkRow.dtype,
            PredictionChunkRow.codes,
            PredictionChunkRow.positions,
            PredictionChunkRow.weights.is_not(None).label("is_weighted"),
            LabelSetRow.n_classes,
        )
        .join(RunRow, RunRow.id == PredictionChunkRow.run_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(PredictionChunkRow.run_id.in_(run_ids))
        .order_by(PredictionChunkRow.run_id, PredictionChunkRow.seq)
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )
    starts: Counter[str] = Counter()
    for run_id, n, dtype, blob, positions, is_weighted, n_classes in rows:
        with codec.damage_of(f"predictions of run {run_id}"):
            chunk = PredictedChunk(
                run_id,
                starts[run_id],
                codec.require_codes(codec.decode_codes(blob, dtype), n, n_classes),
                None if positions is None else decode_positions(positions, n),
                bool(is_weighted),
            )
        yield chunk
        starts[run_id] += n


def in_truth_order(
    session: Session,
    run_ids: Sequence[str],
    *,
    n_samples: int,
    n_classes: int,
    with_weights: bool = False,
) -> dict[str, Codes]:
    """Predicted code of each sample of the label version by run, `n_classes` for missing ones.

    For multi-label samples these are packed sets, "unknown" for missing ones.

    One statement for all runs, which must have been logged with this label version or one it
    descends from; runs without predictions are left out. Counts from these codes are not weighted,
    so `Conflict` is raised for a run whose samples have weights, unless the caller reads these too
    (`with_weights`).
    """
    found: dict[str, Codes] = {}
    for chunk in predicted_chunks(session, run_ids):
        if chunk.is_weighted and not with_weights:
            raise of_weights()
        codes = found.get(chunk.run_id)
        if codes is None:
            codes = found[chunk.run_id] = nothing_labelled(
                n_samples, n_classes, of_sets=are_sets(chunk.codes)
            )
        codes[chunk.places] = in_roomy_rows(chunk.codes, n_classes)
    return found
