"""Statements on evaluations: the cache of everything computed from a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import exists, insert, select, update
from sqlalchemy.orm import Session

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunState
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.store import codec
from offdiag.store.class_values import ClassValues, pack, unpack
from offdiag.store.datasets import label_set_id
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
    RunRow,
    WorkRow,
)
from offdiag.store.models.evaluations import AGGREGATE

INDEXED_CLASS_KEYS = ("recall", "precision", "f1", "support")
"""Per-class values with rows of their own, so that lists can sort and filter by them."""


@dataclass(frozen=True)
class NewEvaluation:
    """What a worker computed for one run. `per_class` holds K values per key, label order."""

    run_id: str
    truth_version_id: int | None
    suite_version: int
    engine_version: str
    input_digest: str
    matrix: ConfusionMatrix
    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, Sequence[MetricValue]]
    duration_s: float


@dataclass(frozen=True)
class StoredEvaluation:
    """The current evaluation of a run, as computed then."""

    id: int
    run_id: str
    truth_version_id: int | None
    suite_version: int
    input_digest: str
    computed_at: datetime
    matrix: ConfusionMatrix
    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, tuple[MetricValue, ...]]


def write_evaluation(session: Session, evaluation: NewEvaluation, now: datetime) -> int:
    """Store an evaluation and make it the current one. The same inputs are stored once."""
    known = session.scalar(
        select(EvaluationRow.id).where(
            EvaluationRow.run_id == evaluation.run_id,
            EvaluationRow.input_digest == evaluation.input_digest,
        )
    )
    session.execute(
        update(EvaluationRow)
        .where(
            EvaluationRow.run_id == evaluation.run_id,
            EvaluationRow.is_current,
            EvaluationRow.slice.is_(None),
        )
        .values(is_current=False)
    )
    if known is None:
        known = _insert(session, evaluation, now)
    else:
        session.execute(
            update(EvaluationRow).where(EvaluationRow.id == known).values(is_current=True)
        )
    return known


def current_evaluation(session: Session, run_id: str) -> StoredEvaluation | None:
    """The evaluation that counts for a run, None while there is none."""
    found = session.execute(
        select(EvaluationRow, ConfusionMatrixRow, LabelSetRow, ClassValuesRow)
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .join(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .join(ClassValuesRow, ClassValuesRow.evaluation_id == EvaluationRow.id)
        .where(
            EvaluationRow.run_id == run_id,
            EvaluationRow.is_current,
            EvaluationRow.slice.is_(None),
        )
    ).one_or_none()
    if found is None:
        return None
    evaluation, matrix, label_set, packed = found
    labels = LabelSet(tuple(label_set.names), label_set.ordinal)
    counts = codec.decode_counts(matrix.cells, matrix.n_classes)
    values = ClassValues(packed.keys, packed.reasons, packed.n_classes, packed.data)
    return StoredEvaluation(
        id=evaluation.id,
        run_id=run_id,
        truth_version_id=evaluation.truth_version_id,
        suite_version=evaluation.suite_version,
        input_digest=evaluation.input_digest,
        computed_at=evaluation.computed_at,
        matrix=ConfusionMatrix(np.array(counts), labels),
        aggregate=_aggregates(session, evaluation.id),
        per_class=unpack(values),
    )


def runs_without_current_evaluation(
    session: Session, *, suite_version: int, limit: int
) -> list[str]:
    """Finished runs that nobody evaluated with this suite and that no work row speaks for."""
    current = exists().where(
        EvaluationRow.run_id == RunRow.id,
        EvaluationRow.is_current,
        EvaluationRow.slice.is_(None),
        EvaluationRow.suite_version == suite_version,
    )
    asked_for = exists().where(WorkRow.key == "evaluate:" + RunRow.id)
    return list(
        session.scalars(
            select(RunRow.id)
            .where(RunRow.state.in_([RunState.FINISHED, RunState.EVALUATED]), ~current, ~asked_for)
            .order_by(RunRow.created_at)
            .limit(limit)
        )
    )


def _insert(session: Session, evaluation: NewEvaluation, now: datetime) -> int:
    matrix = evaluation.matrix
    row = EvaluationRow(
        run_id=evaluation.run_id,
        truth_version_id=evaluation.truth_version_id,
        suite_version=evaluation.suite_version,
        engine_version=evaluation.engine_version,
        input_digest=evaluation.input_digest,
        n_cases=matrix.total,
        n_labelled=matrix.total,
        is_current=True,
        computed_at=now,
        duration_s=evaluation.duration_s,
    )
    session.add(row)
    session.flush()  # Everything below refers to it.
    session.add(
        ConfusionMatrixRow(
            evaluation_id=row.id,
            label_set_id=label_set_id(session, matrix.labels),
            n_classes=matrix.n_classes,
            cells=codec.encode_counts(matrix.counts),
            digest=matrix.digest,
        )
    )
    packed = pack(evaluation.per_class, matrix.n_classes)
    session.add(
        ClassValuesRow(
            evaluation_id=row.id,
            n_classes=packed.n_classes,
            keys=list(packed.keys),
            reasons=list(packed.reasons),
            data=packed.data,
        )
    )
    session.flush()  # Blobs first; the many small rows go in one statement.
    rows = [
        _value_row(row.id, key, AGGREGATE, value) for key, value in evaluation.aggregate.items()
    ]
    for key in INDEXED_CLASS_KEYS:
        rows += [
            _value_row(row.id, key, index, value)
            for index, value in enumerate(evaluation.per_class[key])
        ]
    session.execute(insert(MetricValueRow), rows)
    return row.id


def _value_row(
    evaluation_id: int, key: str, class_index: int, value: MetricValue
) -> dict[str, object]:
    return {
        "evaluation_id": evaluation_id,
        "key": key,
        "class_index": class_index,
        "value": value.value,
        "reason": value.reason,
        "tends_to": value.limit,
        "ci_low": value.ci_low,
        "ci_high": value.ci_high,
        "ci_method": value.ci_method,
    }


def _aggregates(session: Session, evaluation_id: int) -> dict[str, MetricValue]:
    rows = session.scalars(
        select(MetricValueRow).where(
            MetricValueRow.evaluation_id == evaluation_id,
            MetricValueRow.class_index == AGGREGATE,
        )
    )
    return {
        row.key: MetricValue(
            row.value, row.reason, row.tends_to, row.ci_low, row.ci_high, row.ci_method
        )
        for row in rows
    }
