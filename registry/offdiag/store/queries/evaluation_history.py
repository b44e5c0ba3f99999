"""All evaluations a run ever had, as far as they were kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from offdiag.domain.values import MetricValue
from offdiag.store.models import EvaluationRow, MetricValueRow, TruthVersionRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.recorded_values import VALUE_COLUMNS, recorded_value


@dataclass(frozen=True, slots=True)
class PastEvaluation:
    """One evaluation with its main numbers; `truth_number` is None for an uploaded matrix
    that was compared with no truth."""

    id: int
    slice: str | None
    truth_number: int | None
    suite_version: int
    engine_version: str
    n_cases: int
    n_labelled: int
    is_current: bool
    computed_at: datetime
    metrics: Mapping[str, MetricValue]


def evaluation_history(
    session: Session, run_id: str, *, keys: Collection[str]
) -> tuple[PastEvaluation, ...]:
    """The evaluations of a run, oldest first, each with the aggregates `keys`; one statement."""
    rows = session.execute(
        select(EvaluationRow, TruthVersionRow.number, *VALUE_COLUMNS)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .outerjoin(
            MetricValueRow,
            and_(
                MetricValueRow.evaluation_id == EvaluationRow.id,
                MetricValueRow.class_index == AGGREGATE,
                MetricValueRow.key.in_(keys),
            ),
        )
        .where(EvaluationRow.run_id == run_id)
        .order_by(EvaluationRow.id)
    ).all()
    values: dict[int, dict[str, MetricValue]] = {}
    for row in rows:
        known = values.setdefault(row[0].id, {})
        if row.key is not None:
            known[row.key] = recorded_value(row)
    found = {row[0].id: (row[0], row.number) for row in rows}
    return tuple(
        PastEvaluation(
            id=row.id,
            slice=row.slice,
            truth_number=number,
            suite_version=row.suite_version,
            engine_version=row.engine_version,
            n_cases=row.n_cases,
            n_labelled=row.n_labelled,
            is_current=row.is_current,
            computed_at=row.computed_at,
            metrics=values[row.id],
        )
        for row, number in found.values()
    )
