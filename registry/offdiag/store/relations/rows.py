"""Reading the relations `runs`, `cells`, `flags` and `metrics`.

Matrices and values are those of the current evaluations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray
from sqlalchemy import func, null, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import Task
from offdiag.domain.values import POSITIVE_INFINITY
from offdiag.metrics.catalogue import SPECS
from offdiag.metrics.orientation import ACTUAL_AXIS, PREDICTED_AXIS
from offdiag.store import codec
from offdiag.store.engines import to_json
from offdiag.store.evaluation_codec import ClassValues, unpack_arrays
from offdiag.store.evaluations import counts_for_its_run, has_results_of_run
from offdiag.store.flag_conditions import HIDES, MAY_HIDE, may_hide_minority
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    MetricValueRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.relations.columns import (
    RequestedColumns,
    batch_of_arrays,
    batch_of_rows,
    named,
    repeated,
    schema_of,
)

_DOCUMENTS = 2
"""The last columns are JSON documents, which are text here."""


def run_rows(session: Session, run_ids: Sequence[str], wanted: RequestedColumns) -> pa.Table:
    """The named runs; one statement."""
    elsewhere = {
        "run_id": RunRow.id,
        "project": ProjectRow.name,
        "dataset": DatasetRow.name,
        "task": DatasetRow.task,
        "truth_version": TruthVersionRow.number,
        "hides_minority": EvaluationRow.hides_minority,
        "may_hide_minority": may_hide_minority(),
    }
    statement = (
        select(
            *(
                elsewhere[name] if name in elsewhere else getattr(RunRow, name)
                for name in schema_of("runs").names
            )
        )
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .outerjoin(EvaluationRow, has_results_of_run())
        .outerjoin(
            TruthVersionRow,
            TruthVersionRow.id
            == func.coalesce(EvaluationRow.truth_version_id, RunRow.truth_version_id),
        )
        .where(RunRow.id.in_(run_ids))
        .order_by(RunRow.created_at, RunRow.id)
    )
    rows = (
        (*row[:-_DOCUMENTS], *map(to_json, row[-_DOCUMENTS:]))
        for row in session.execute(statement)
    )
    return batch_of_rows(rows, schema_of("runs"), wanted)


def cell_rows(session: Session, run_ids: Sequence[str], wanted: RequestedColumns) -> pa.Table:
    """The occupied cells of the named runs; one statement. Multi-label runs have no cells.

    If samples have weights, cells count the samples.
    """
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
        _cell_table(run_id, codec.decode_cell_samples(blob, len(names)), names, wanted)
        for run_id, blob, names in session.execute(statement)
    ]
    return pa.concat_tables(tables) if tables else wanted.schema.empty_table()


def _cell_table(
    run_id: str, counts: NDArray[np.int64], names: Sequence[str], wanted: RequestedColumns
) -> pa.Table:
    occupied = np.nonzero(counts)
    columns = {
        "run_id": lambda: repeated(run_id, len(occupied[ACTUAL_AXIS])),
        "actual": lambda: named(names, occupied[ACTUAL_AXIS]),
        "predicted": lambda: named(names, occupied[PREDICTED_AXIS]),
        "count": lambda: pa.array(counts[occupied]),
    }
    return batch_of_arrays(columns, wanted)


def flag_rows(session: Session, run_ids: Sequence[str], wanted: RequestedColumns) -> pa.Table:
    """All flags of the named runs in any state; one statement."""
    statement = (
        select(
            FlagRow.run_id,
            FlagRow.rule,
            func.nullif(FlagRow.class_label, ""),
            func.nullif(FlagRow.slice, ""),
            FlagRow.severity,
            FlagRow.state,
            FlagRow.message,
            HIDES,
            MAY_HIDE,
            FlagRow.reason,
            FlagRow.assignee,
            FlagRow.first_seen,
            FlagRow.last_seen,
            FlagRow.closed_at,
        )
        .where(FlagRow.run_id.in_(run_ids))
        .order_by(FlagRow.run_id, FlagRow.id)
    )
    return batch_of_rows(session.execute(statement), schema_of("flags"), wanted)


_KEYS = tuple(sorted({spec.key for spec in SPECS}))


def metric_rows(session: Session, run_ids: Sequence[str], wanted: RequestedColumns) -> pa.Table:
    """The values of the named runs, of the whole matrix and of each class; two statements."""
    parts = [
        _aggregates(session, run_ids, wanted) if _may_be(wanted, aggregate=True) else None,
        *(_of_classes(session, run_ids, wanted) if _may_be(wanted, aggregate=False) else ()),
    ]
    found = [part for part in parts if part is not None]
    return pa.concat_tables(found) if found else wanted.schema.empty_table()


def _may_be(wanted: RequestedColumns, *, aggregate: bool) -> bool:
    """Whether the condition can match values of the whole matrix, or those of classes."""
    if "class" not in wanted:
        return True
    of_class = ds.field("class")
    return bool(wanted.possible([of_class.is_null() if aggregate else of_class.is_valid()]))


def _unwanted_keys(wanted: RequestedColumns) -> list[str]:
    """Keys of the catalogue that no wanted row has; older registries may contain other keys."""
    if "key" not in wanted or wanted.condition is None:
        return []
    possible = set(wanted.possible([ds.field("key") == key for key in _KEYS]))
    return [key for number, key in enumerate(_KEYS) if number not in possible]


def _aggregates(session: Session, run_ids: Sequence[str], wanted: RequestedColumns) -> pa.Table:
    rows = session.execute(
        select(
            EvaluationRow.run_id,
            MetricValueRow.key,
            null(),
            MetricValueRow.value,
            MetricValueRow.reason,
            MetricValueRow.tends_to,
            MetricValueRow.ci_low,
            MetricValueRow.ci_high,
            MetricValueRow.ci_method,
        )
        .join(EvaluationRow, EvaluationRow.id == MetricValueRow.evaluation_id)
        .where(
            EvaluationRow.run_id.in_(run_ids),
            counts_for_its_run(),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key.not_in(_unwanted_keys(wanted)),
        )
        .order_by(EvaluationRow.run_id, MetricValueRow.key)
    )
    return batch_of_rows(rows, schema_of("metrics"), wanted)


def _of_classes(
    session: Session, run_ids: Sequence[str], wanted: RequestedColumns
) -> Iterator[pa.Table]:
    rows = session.execute(
        select(EvaluationRow.run_id, ClassValuesRow, LabelSetRow.names)
        .join(ClassValuesRow, ClassValuesRow.evaluation_id == EvaluationRow.id)
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .join(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .where(EvaluationRow.run_id.in_(run_ids), counts_for_its_run())
        .order_by(EvaluationRow.run_id)
    )
    unwanted = frozenset(_unwanted_keys(wanted))
    for run_id, row, names in rows:
        packed = ClassValues(row.keys, row.reasons, row.n_classes, row.data)
        yield _class_table(run_id, packed, names, unwanted, wanted)


def _class_table(
    run_id: str,
    packed: ClassValues,
    names: Sequence[str],
    unwanted: frozenset[str],
    wanted: RequestedColumns,
) -> pa.Table:
    found = unpack_arrays(packed)
    kept = np.flatnonzero([key not in unwanted for key in packed.keys])
    value, low, high = (found.numbers[kept, :, field].ravel() for field in range(3))
    reason, limit, method = (found.codes[kept, :, field].ravel() for field in range(3))
    words = pa.array(found.words, pa.string())
    columns = {
        "run_id": lambda: repeated(run_id, len(value)),
        "key": lambda: named(packed.keys, np.repeat(kept, packed.n_classes)),
        "class": lambda: named(names, np.tile(np.arange(packed.n_classes), len(kept))),
        "value": lambda: _numbers(value),
        "reason": lambda: words.take(pa.array(reason)),
        "tends_to": lambda: named([POSITIVE_INFINITY], np.where(limit > 0, 0, 1)),
        "ci_low": lambda: _numbers(low),
        "ci_high": lambda: _numbers(high),
        "ci_method": lambda: words.take(pa.array(method)),
    }
    return batch_of_arrays(columns, wanted)


def _numbers(values: NDArray[np.float64]) -> pa.Array:
    """Numbers, NULL for NaN."""
    return pa.array(values, mask=np.isnan(values))
