"""What is known of few samples of a truth: their names and their slices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import literal, null, select, union_all
from sqlalchemy.orm import Session

from offdiag.inputs.ids import SampleIds, joined
from offdiag.inputs.slice_columns import SliceColumn
from offdiag.store import codec
from offdiag.store.ids_codec import decode_ids
from offdiag.store.models import TruthChunkRow, TruthSliceRow

_NO_CHUNK = -1
"""Stands for the number of a chunk in a row that is a slice column."""


@dataclass(frozen=True, eq=False)
class SampleFacts:
    """What is known of m samples: a name each, and slice columns by their names."""

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
    """What is known of the samples at some places in the truth, in their order, read at once.

    They are named by their identifiers, and by their positions where they have none. `starts`
    are those of the chunks of the truth.
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
