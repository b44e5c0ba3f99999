"""Reading predictions of a run next to the labels, and the facts about single samples.

Predictions are read chunk by chunk, with scores if they are needed; names and slices are read for
a few samples only.

A run of ten million predictions has a hundred and fifty chunks. Codes take a byte per prediction
and are read one chunk at a time; scores take forty and more, so only chunks that are requested by
number are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Executable, LargeBinary, Row, cast, literal, null, select, union_all
from sqlalchemy.orm import Session, aliased

from offdiag.inputs.ids import SampleIds, joined
from offdiag.inputs.labels import Codes
from offdiag.inputs.slice_columns import SliceColumn
from offdiag.store import codec
from offdiag.store.codec import decode_ids
from offdiag.store.models import PredictionChunkRow, ScoreChunkRow, TruthChunkRow, TruthSliceRow
from offdiag.store.predictions import decode_positions

_MOST_NUMBERS = 500
"""Up to this many chunks are selected by number; beyond that, all are read and some skipped."""
_TRUTH, _RUN = 0, 1


@dataclass(frozen=True, eq=False)
class PredictionChunk:
    """Predicted codes (n,) of one chunk, with scores (n, columns) if they were requested.

    `positions` are the samples' places in the label version, None if they follow on.
    """

    seq: int
    predicted: Codes
    positions: NDArray[np.unsignedinteger[Any]] | None
    scores: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.predicted)


@dataclass(frozen=True, eq=False)
class Labels:
    """Actual codes (n,) of all samples of a label version, and where its chunks begin, ascending.

    `named` (n,) says whose id contains the text that was searched for; None without a text.
    """

    codes: Codes
    starts: NDArray[np.int64]
    named: NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class TruthOfRun:
    """The label version that a run is viewed with, and the first one of its lineage."""

    truth_id: int
    root_id: int
    id_kind: str


def read_beside_truth(
    session: Session,
    run_id: str,
    truth: TruthOfRun,
    *,
    n_classes: int,
    named: str | None = None,
) -> tuple[Labels, Iterator[PredictionChunk]]:
    """All labels of a version, then the chunks of a run in order, without scores.

    Both come from one statement, labels first. With `named`, sample ids are read too and searched
    for this text.
    """
    rows = iter(session.execute(_both_sides(run_id, truth, with_ids=named is not None)))
    codes: list[Codes] = []
    found: list[NDArray[np.bool_]] = []
    starts: list[int] = []
    start, first = 0, None
    for row in rows:
        if row.side != _TRUTH:
            first = row
            break
        with codec.damage_of(f"labels in row {truth.truth_id} of truth_version"):
            codes.append(codec.require_codes(codec.decode_codes(row.codes, row.dtype), row.n))
        starts.append(start)
        if named is not None:
            found.append(_named(row.ids, truth.id_kind, named, start=start, n=row.n))
        start += row.n
    labels = Labels(
        np.concatenate(codes),
        np.array(starts, dtype=np.int64),
        None if named is None else np.concatenate(found),
    )
    following = [] if first is None else [first]
    return labels, (_chunk_of(run_id, row, n_classes=n_classes) for row in chain(following, rows))


def _both_sides(run_id: str, truth: TruthOfRun, *, with_ids: bool) -> Executable:
    of_root = aliased(TruthChunkRow)
    of_truth = select(
        literal(_TRUTH).label("side"),
        TruthChunkRow.seq,
        TruthChunkRow.n,
        TruthChunkRow.dtype,
        TruthChunkRow.codes,
        cast(null(), LargeBinary).label("positions"),
        (of_root.sample_ids if with_ids else cast(null(), LargeBinary)).label("ids"),
    ).where(TruthChunkRow.truth_version_id == truth.truth_id)
    if with_ids:
        of_truth = of_truth.join(
            of_root,
            (of_root.truth_version_id == truth.root_id) & (of_root.seq == TruthChunkRow.seq),
        )
    of_run = select(
        literal(_RUN),
        PredictionChunkRow.seq,
        PredictionChunkRow.n,
        PredictionChunkRow.dtype,
        PredictionChunkRow.codes,
        PredictionChunkRow.positions,
        cast(null(), LargeBinary),
    ).where(PredictionChunkRow.run_id == run_id)
    return union_all(of_truth, of_run).order_by("side", "seq").execution_options(yield_per=8)


def _named(
    blob: bytes | None, id_kind: str, text: str, *, start: int, n: int
) -> NDArray[np.bool_]:
    if blob is None:
        return SampleIds("int", np.arange(start, start + n)).named(text)
    return decode_ids(blob, id_kind).named(text)


def read_scored(session: Session, run_id: str, seqs: Collection[int]) -> Iterator[PredictionChunk]:
    """Some chunks of a run in order with their scores, one in memory at a time."""
    wanted = frozenset(seqs)
    if not wanted:
        return
    statement = (
        select(
            PredictionChunkRow.seq,
            PredictionChunkRow.n,
            PredictionChunkRow.dtype,
            PredictionChunkRow.codes,
            PredictionChunkRow.positions,
            ScoreChunkRow.scores,
            ScoreChunkRow.n_columns,
        )
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
    for row in session.execute(statement):
        if row.seq in wanted:
            with codec.damage_of(f"scores of run {run_id}"):
                scores = codec.decode_scores(row.scores, row.n_columns)
            yield _chunk_of(run_id, row, scores)


def _chunk_of(
    run_id: str,
    row: Row[*tuple[Any, ...]],
    scores: NDArray[np.float32] | None = None,
    *,
    n_classes: int | None = None,
) -> PredictionChunk:
    with codec.damage_of(f"chunk {row.seq} of run {run_id}"):
        places = None if row.positions is None else decode_positions(row.positions, row.n)
        codes = codec.require_codes(codec.decode_codes(row.codes, row.dtype), row.n, n_classes)
    return PredictionChunk(row.seq, codes, places, scores)


_NO_CHUNK = -1
"""Stands for the number of a chunk in a row that is a slice column."""


@dataclass(frozen=True, eq=False)
class SampleFacts:
    """The facts about m samples: a name each, and slice columns by name."""

    names: list[int] | list[str]
    slices: dict[str, SliceColumn]


def sample_facts(
    session: Session,
    *,
    root_id: int,
    id_kind: str,
    positions: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> SampleFacts:
    """The facts about the samples at some places of a label version, in this order, read at once.

    Samples are named by their ids, or by their positions if they have none. `starts` are those of
    the chunks of the label version.
    """
    seqs = np.searchsorted(starts, positions, side="right") - 1
    of_slices = select(
        TruthSliceRow.name,
        literal(_NO_CHUNK).label("seq"),
        TruthSliceRow.levels,
        TruthSliceRow.dtype,
        TruthSliceRow.codes,
    ).where(TruthSliceRow.truth_version_id == root_id)
    of_ids = select(
        literal(""), TruthChunkRow.seq, null(), literal(""), TruthChunkRow.sample_ids
    ).where(
        TruthChunkRow.truth_version_id == root_id,
        TruthChunkRow.seq.in_(np.unique(seqs).tolist()),
    )
    statement = union_all(of_slices) if id_kind == "position" else union_all(of_slices, of_ids)
    slices, by_chunk = {}, {}
    for name, seq, levels, dtype, blob in session.execute(statement):
        if seq == _NO_CHUNK:
            column = SliceColumn(tuple(levels), codec.decode_codes(blob, dtype))
            slices[name] = column.take(positions)
        else:
            by_chunk[seq] = decode_ids(blob, id_kind)
    names = (
        positions.tolist()
        if id_kind == "position"
        else _names(by_chunk, seqs, positions - starts[seqs])
    )
    return SampleFacts(names, {name: slices[name] for name in sorted(slices)})


def _names(
    by_chunk: dict[int, SampleIds], seqs: NDArray[np.int64], offsets: NDArray[np.int64]
) -> list[int] | list[str]:
    if not by_chunk:
        return []
    order = np.argsort(seqs, kind="stable")
    parts = [by_chunk[seq].take(offsets[seqs == seq]) for seq in np.unique(seqs).tolist()]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return joined(parts).take(back).to_list()
