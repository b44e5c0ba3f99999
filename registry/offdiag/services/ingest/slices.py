"""Slice columns that come with predictions: kept with the samples, once."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.slice_columns import MAX_COLUMNS, SliceColumns
from offdiag.services.ingest.truth import PlacedTruth
from offdiag.store import slices, truths
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord


def register_slices(
    session: Session, placed: PlacedTruth, columns: SliceColumns, *, now: datetime
) -> None:
    """Keep the columns of a run with the samples of its truth, in the order of the truth.

    A column that is known must have the same values; a new one is added. Raises `Conflict`
    naming the first sample whose value is another, and `InvalidInput` for too many columns.
    """
    if not columns:
        return
    truth = placed.record
    known = slices.slice_columns(session, truth.root_id)
    if len(known.keys() | columns.keys()) > MAX_COLUMNS:
        raise InvalidInput(
            f"the dataset would have {len(known.keys() | columns.keys())} columns.",
            field="slices",
            hint=f"At most {MAX_COLUMNS} are kept with a dataset.",
        )
    order = None if placed.positions is None else np.argsort(placed.positions, kind="stable")
    for name, given in columns.items():
        column = given if order is None else given.take(order)
        if name not in known:
            slices.insert_slice_column(session, truth.root_id, name, column, now)
            continue
        differs_at = known[name].first_difference(column)
        if differs_at is not None:
            was = known[name].levels[known[name].codes[differs_at]]
            now_is = column.levels[column.codes[differs_at]]
            raise Conflict(
                f"sample {_sample_at(session, truth, differs_at)!r} has {name} {was!r}, "
                f"not {now_is!r}.",
                field="slices",
                hint="Values of a slice belong to the samples; use another name for new ones.",
            )


def _sample_at(session: Session, truth: TruthRecord, position: int) -> int | str:
    ids = truths.truth_ids(session, truth)
    return position if ids is None else ids.slice(position, position + 1).to_list()[0]
