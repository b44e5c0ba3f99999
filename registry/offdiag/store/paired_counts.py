"""Statements on samples that several runs were counted by together.

The kinds of samples are stored once, with a column for each run.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from sqlalchemy import delete, exists, select
from sqlalchemy.orm import Session

from offdiag.inputs.counted_samples import PairedSamples
from offdiag.inputs.slice_columns import SliceColumn, SliceColumns
from offdiag.store import codec
from offdiag.store.models import PairedRunRow, PairedSamplesRow

_ID_BYTES = 12


def insert(session: Session, samples: PairedSamples) -> None:
    """Store kinds of samples with what each run predicts for them, by id of the run."""
    paired_id = f"p_{secrets.token_hex(_ID_BYTES)}"
    session.add(
        PairedSamplesRow(
            id=paired_id,
            n_kinds=len(samples),
            dtype=samples.actual.dtype.str[1:],
            codec=codec.RAW,
            actual=codec.encode_codes(samples.actual),
            sizes=codec.encode_sizes(samples.sizes),
            slices=[_described(name, column) for name, column in samples.slices.items()],
            slice_codes=b"".join(
                codec.encode_codes(column.codes) for column in samples.slices.values()
            ),
        )
    )
    session.flush()  # The runs refer to it.
    for run_id, codes in samples.predicted.items():
        session.add(
            PairedRunRow(run_id=run_id, paired_id=paired_id, predicted=codec.encode_codes(codes))
        )
    session.flush()  # Constraint errors should be raised by this statement.


def _described(name: str, column: SliceColumn) -> dict[str, Any]:
    return {
        "name": name,
        "levels": list(column.levels),
        "dtype": column.codes.dtype.str[1:],
        "codec": codec.TAGS if column.of_tags else codec.RAW,
    }


def paired_among(session: Session, run_ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Tables of counts that contain two or more of these runs, by id, with those runs."""
    rows = session.execute(
        select(PairedRunRow.paired_id, PairedRunRow.run_id)
        .where(PairedRunRow.run_id.in_(run_ids))
        .order_by(PairedRunRow.paired_id)
    )
    found: dict[str, set[str]] = {}
    for paired_id, run_id in rows:
        found.setdefault(paired_id, set()).add(run_id)
    return {each: frozenset(runs) for each, runs in found.items() if len(runs) > 1}


def read(session: Session, paired_id: str, run_ids: Sequence[str]) -> PairedSamples:
    """The kinds of samples of a table, with what these runs predict."""
    row = session.get_one(PairedSamplesRow, paired_id)
    columns = session.execute(
        select(PairedRunRow.run_id, PairedRunRow.predicted).where(
            PairedRunRow.paired_id == paired_id, PairedRunRow.run_id.in_(run_ids)
        )
    )
    predicted = {run_id: codec.decode_codes(codes, row.dtype) for run_id, codes in columns}
    return PairedSamples(
        codec.decode_codes(row.actual, row.dtype),
        {run_id: predicted[run_id] for run_id in run_ids},
        codec.decode_sizes(row.sizes),
        _slices(row),
    )


def _slices(row: PairedSamplesRow) -> SliceColumns:
    sizes = [row.n_kinds * np.dtype(each["dtype"]).itemsize for each in row.slices]
    ends = list(accumulate(sizes))
    return {
        each["name"]: SliceColumn(
            tuple(each["levels"]),
            codec.decode_codes(row.slice_codes[end - size : end], each["dtype"]),
            each["codec"] == codec.TAGS,
        )
        for each, size, end in zip(row.slices, sizes, ends, strict=True)
    }


def tables_of(session: Session, run_id: str) -> list[str]:
    return list(
        session.scalars(select(PairedRunRow.paired_id).where(PairedRunRow.run_id == run_id))
    )


def remove_unused(session: Session) -> None:
    """Remove the tables that contain no run any more."""
    is_used = exists().where(PairedRunRow.paired_id == PairedSamplesRow.id)
    session.execute(delete(PairedSamplesRow).where(~is_used))
