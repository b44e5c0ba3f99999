"""The relation `metrics`: every value of the evaluations that count for their runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray
from sqlalchemy import null, select
from sqlalchemy.orm import Session

from offdiag.domain.values import POSITIVE_INFINITY
from offdiag.metrics.catalogue import SPECS
from offdiag.store.class_values import ClassValues, unpack_arrays
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
)
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.relations.batches import batch_of_arrays, batch_of_rows, named, repeated
from offdiag.store.relations.columns import schema_of
from offdiag.store.relations.wanted import Wanted

_KEYS = tuple(sorted({spec.key for spec in SPECS}))


def metric_rows(session: Session, run_ids: Sequence[str], wanted: Wanted) -> pa.Table:
    """The values of the named runs, of the whole matrix and of each class; two statements."""
    parts = [
        _aggregates(session, run_ids, wanted) if _may_be(wanted, aggregate=True) else None,
        *(_of_classes(session, run_ids, wanted) if _may_be(wanted, aggregate=False) else ()),
    ]
    found = [part for part in parts if part is not None]
    return pa.concat_tables(found) if found else wanted.schema.empty_table()


def _may_be(wanted: Wanted, *, aggregate: bool) -> bool:
    """Whether values of the whole matrix, or those of classes, can be wanted at all."""
    if "class" not in wanted:
        return True
    of_class = ds.field("class")
    return bool(wanted.possible([of_class.is_null() if aggregate else of_class.is_valid()]))


def _unwanted_keys(wanted: Wanted) -> list[str]:
    """Keys of the catalogue that no wanted row has; others may be in older registries."""
    if "key" not in wanted or wanted.condition is None:
        return []
    possible = set(wanted.possible([ds.field("key") == key for key in _KEYS]))
    return [key for number, key in enumerate(_KEYS) if number not in possible]


def _aggregates(session: Session, run_ids: Sequence[str], wanted: Wanted) -> pa.Table:
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


def _of_classes(session: Session, run_ids: Sequence[str], wanted: Wanted) -> Iterator[pa.Table]:
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
    wanted: Wanted,
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
    """Numbers, NULL where there is none."""
    return pa.array(values, mask=np.isnan(values))
