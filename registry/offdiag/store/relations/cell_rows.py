"""The relation `cells`: the confusion matrices that count for their runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.domain.runs import Task
from offdiag.metrics.orientation import ACTUAL_AXIS, PREDICTED_AXIS
from offdiag.store import codec
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import (
    ConfusionMatrixRow,
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    RunRow,
)
from offdiag.store.relations.batches import batch_of_arrays, named, repeated
from offdiag.store.relations.wanted import Wanted


def cell_rows(session: Session, run_ids: Sequence[str], wanted: Wanted) -> pa.Table:
    """The occupied cells of the named runs; one statement. Sets of labels have no cells."""
    statement = (
        select(EvaluationRow.run_id, ConfusionMatrixRow.cells, LabelSetRow.names)
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .join(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .where(
            EvaluationRow.run_id.in_(run_ids),
            counts_for_its_run(),
            DatasetRow.task != Task.MULTILABEL,
        )
        .order_by(EvaluationRow.run_id)
    )
    tables = [
        _cell_table(run_id, codec.decode_counts(blob, len(names)), names, wanted)
        for run_id, blob, names in session.execute(statement)
    ]
    return pa.concat_tables(tables) if tables else wanted.schema.empty_table()


def _cell_table(
    run_id: str, counts: NDArray[np.int64], names: Sequence[str], wanted: Wanted
) -> pa.Table:
    occupied = np.nonzero(counts)
    columns = {
        "run_id": lambda: repeated(run_id, len(occupied[ACTUAL_AXIS])),
        "actual": lambda: named(names, occupied[ACTUAL_AXIS]),
        "predicted": lambda: named(names, occupied[PREDICTED_AXIS]),
        "count": lambda: pa.array(counts[occupied]),
    }
    return batch_of_arrays(columns, wanted)
